"""What arrives below the level of requests: bounded in bytes, time and number, and answered with a problem document."""

import contextlib
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from memwarden_service import wire

HOST = b"GET /v1/whoami HTTP/1.1\r\nhost: x\r\n"
CHUNKED = b"POST /v1/memories HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n"
MALFORMED = {
    "an unknown method": b"FOO / HTTP/1.1\r\nhost: x\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "two lengths": HOST + b"content-length: 1\r\ncontent-length: 2\r\n\r\n",
    "length and chunks": HOST + b"content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "a folded header": HOST + b"a: b\r\n c: d\r\n\r\n",
    "an address that is none": b"GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n",
}


def connected(service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=30)


def read(connection) -> tuple[int, dict, dict]:
    """Return status, headers and document of an answer after which the connection ends."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionError:
        pass
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, json.loads(body)


def is_problem(answer, status) -> bool:
    found, headers, document = answer
    assert found == document["status"] == status, answer
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-request-id"] == document["request_id"]
    assert headers["x-content-type-options"] == "nosniff"
    return True


def resident(service) -> int:
    """Return the megabytes that the service holds."""
    lines = Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


def pour(connection, begin: bytes, part: bytes, megabytes: int) -> int:
    """Send until the other side has had enough; returns the bytes that were sent."""
    connection.sendall(begin)
    sent = 0
    while sent < megabytes * 1024 * 1024:
        try:
            connection.sendall(part)
        except OSError:
            break
        sent += len(part)
    return sent


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_request_is_a_problem_with_an_id_that_the_log_knows(service, name):
    with connected(service) as connection:
        connection.sendall(MALFORMED[name])
        answer = read(connection)
    assert is_problem(answer, 400)
    assert answer[2]["request_id"] in service.log.read_text()


def test_a_bad_chunk_ends_its_request(service, cluster, support):
    token = f"authorization: Bearer {cluster.token('support', 'agent')}\r\n\r\n".encode()
    with connected(service) as connection:
        connection.sendall(CHUNKED + token)
        time.sleep(0.3)
        connection.sendall(b"zz\r\n")
        assert is_problem(read(connection), 400)


def test_what_follows_a_request_does_not_take_its_answer(service):
    with connected(service) as connection:
        connection.sendall(HOST + b"\r\n" + b"FOO bar\r\n\r\n")
        assert read(connection)[0] == 401


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (HOST, b"x-a: " + b"b" * 60_000 + b"\r\n"),
        (HOST, b"a:\r\n" * 10_000),
        (HOST + b"x-a: ", b"b" * 65_536),
        (b"GET /", b"a" * 65_536),
        (CHUNKED + b"\r\n0\r\nx-a: ", b"b" * 65_536),
    ],
    ids=["headers", "small headers", "a header", "an address", "a trailer"],
)
def test_a_head_is_cut_off_at_its_bound(service, begin, part):
    before = resident(service)
    with connected(service) as connection:
        sent = pour(connection, begin, part, 60)
    assert sent < 60 * 1024 * 1024
    assert resident(service) - before < 30
    with connected(service) as connection:
        connection.sendall(begin)
        time.sleep(0.2)
        with contextlib.suppress(OSError):
            connection.sendall(part * 3)
        assert is_problem(read(connection), 401 if b"chunked" in begin else 431)


def test_a_large_head_within_the_bound_is_taken(service):
    with connected(service) as connection:
        connection.sendall(HOST + b"connection: close\r\nx-a: " + b"b" * 60_000 + b"\r\n\r\n")
        assert read(connection)[0] == 401


def dribbled(service, name: str, begin: bytes) -> tuple[str, float]:
    """Send a byte now and then; returns how the answer begins, and after how many seconds the connection ended."""
    began, answer = time.monotonic(), b""
    with connected(service) as connection:
        connection.sendall(begin)
        connection.settimeout(0.5)
        while time.monotonic() - began < 60:
            try:
                if not (part := connection.recv(65536)):
                    break
                answer += part
            except TimeoutError:
                if name != "silent":
                    connection.sendall(b"\r\n" if name == "line ends" else b" ")
            except OSError:
                break
    return answer[:12].decode(), time.monotonic() - began


def test_a_slow_client_is_told_so_and_cut_off(service, cluster, support):
    """Silent from the start; slow with its head; slow with a second head; slow with its body; slow after the answer."""
    token = f"authorization: Bearer {cluster.token('support', 'agent')}\r\ncontent-length: 50\r\n".encode()
    post = b"POST /v1/memories HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    began = {
        "silent": b"",
        "head": b"GET / HTTP/1.1\r\nx-a: ",
        "line ends": b"\r\n",
        "body": post + token + b"\r\n",
        "rest": post + b"content-length: 5000\r\n\r\n",
    }
    with ThreadPoolExecutor(len(began)) as pool:
        found = dict(zip(began, pool.map(lambda name: dribbled(service, name, began[name]), began), strict=True))
    assert {name: status for name, (status, _) in found.items()} == {
        "silent": "",
        "head": "HTTP/1.1 408",
        "line ends": "HTTP/1.1 408",
        "body": "HTTP/1.1 408",
        "rest": "HTTP/1.1 401",
    }
    assert max(seconds for _, seconds in found.values()) < 25


def test_idle_connections_make_room_for_new_ones(service, cluster, support):
    many, files = [], Path(f"/proc/{service.process.pid}/fd")
    before = len(list(files.iterdir()))
    try:
        many.extend(connected(service) for _ in range(wire.CONNECTIONS_MAX + 50))
        for _ in range(5):
            with httpx2.Client(base_url=service.url, timeout=20) as client:
                headers = {"Authorization": f"Bearer {cluster.token('support', 'agent')}"}
                assert client.get("/v1/whoami", headers=headers).status_code == 200
        assert len(list(files.iterdir())) <= wire.CONNECTIONS_MAX + before
        assert many[0].recv(1) == b""
    finally:
        for each in many:
            each.close()
