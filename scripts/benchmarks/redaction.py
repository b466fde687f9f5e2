"""Redaction and screening: time for a text, the worst hostile text, the start, secrets found and false alarms."""

import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks import Figure
from corpora import ordinary, poison, secrets
from memwarden_policy.redaction import Registry, sanitize_server_write
from memwarden_policy.redaction.finders import Re2Finder
from memwarden_policy.redaction.matcher import Matcher
from memwarden_policy.screening import Context, Risk, screen

SEED = 2_026
TEXTS = 300
HOSTILE_SIZE = 10_000
REPEATS = 3
HOSTILE = (
    "a", "-", "eyJ", "eyJaaaaaaaa.", "QUtJQUFB/+9z", "key=", "pat=", "token: xxxx\n", "password: aB3dE5fG\n",
    'password: "',
    "-----BEGIN PRIVATE KEY-----!", "4111 ", "4539148803436467 ", "DE89 ",
    "://a:b@c ", "a@b.co ", "a\u200b", "\uff41", "a\n",
    "ghp_\n", "xapp-", "my password for ", "login with a ", "[REDACTED:password] ", "+43 660 1234567 ", "\U000e0041",
)  # fmt: skip
TOOL = Context(source="tool_result")


def _seconds(act: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Return the CPU seconds of each text, the best of a few runs: others share the machine."""
    return [min(_timed(act, text) for _ in range(REPEATS)) for text in texts]


def _timed(act: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    act(text)
    return time.process_time() - began


def _milliseconds(name: str, seconds: float, goal: float | None) -> Figure:
    return {"name": name, "value": seconds * 1_000, "unit": "ms CPU", "better": "lower", "goal": goal}


def _share(name: str, value: float, better: str, goal: float) -> Figure:
    return {
        "name": name,
        "value": value,
        "unit": "share",
        "better": "higher" if better == "higher" else "lower",
        "goal": goal,
    }


def run() -> list[Figure]:
    """Measure on texts of our own making: rank by them, do not take them for the world."""
    began = time.process_time()
    matcher = Registry().matcher()
    compiled = time.process_time() - began
    screen("warm up", TOOL)
    clean = ordinary.clean(SEED, TEXTS)
    planted = secrets.planted(SEED, TEXTS)
    hostile = [(piece * HOSTILE_SIZE)[:HOSTILE_SIZE] for piece in HOSTILE]
    slow = Matcher(matcher.rules, Re2Finder)
    return [
        *_times(clean, planted, hostile),
        _milliseconds("redaction: compile all rules, once a process", compiled, None),
        _milliseconds(
            "redaction: one pass with RE2 alone, p50",
            statistics.median(_seconds(lambda text: slow.findings(text.encode(), contact=False), clean[:30])),
            None,
        ),
        *_answers(clean, planted),
    ]


def _times(clean: list[str], planted: list[secrets.Planted], hostile: list[str]) -> list[Figure]:
    texts = [each.text for each in planted]
    plain, cut = _seconds(sanitize_server_write, clean), _seconds(sanitize_server_write, texts)
    worst = _seconds(lambda text: sanitize_server_write(text, redact_contact_pii=True), hostile)
    size = sum(map(len, clean)) / 1_024
    return [
        _milliseconds("redaction: ordinary text of 1-10 KB, p50", statistics.median(plain), 1.0),
        _milliseconds("redaction: ordinary text of 1-10 KB, p99", statistics.quantiles(plain, n=100)[-1], None),
        _milliseconds("redaction: ordinary text, mean per KB", sum(plain) / size, None),
        _milliseconds("redaction: text with a secret, 1-10 KB, p50", statistics.median(cut), None),
        _milliseconds("redaction: worst hostile text of 10 KB", max(worst), 50.0),
        _milliseconds("screening: ordinary text of 1-10 KB, p50", statistics.median(_seconds(_screen, clean)), None),
        _milliseconds("screening: worst hostile text of 10 KB", max(_seconds(_screen, hostile)), 50.0),
    ]


def _screen(text: str) -> object:
    return screen(text, TOOL)


def _answers(clean: list[str], planted: list[secrets.Planted]) -> list[Figure]:
    found = sum(each.value not in sanitize_server_write(each.text).text for each in planted)
    alarms = sum(sanitize_server_write(text).applied for text in clean)
    orders, harmless = poison.orders(SEED, TEXTS), poison.harmless(SEED, TEXTS)
    seen = sum(screen(text, TOOL).risk is not Risk.LOW for text in orders)
    raised = sum(screen(text, TOOL).risk is not Risk.LOW for text in harmless)
    return [
        _share("redaction: secrets found", found / len(planted), "higher", 0.95),
        _share("redaction: ordinary texts cut", alarms / len(clean), "lower", 0.05),
        _share("screening: orders seen", seen / len(orders), "higher", 0.95),
        _share("screening: ordinary texts that raise risk", raised / len(harmless), "lower", 0.05),
    ]
