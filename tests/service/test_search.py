"""Search over HTTP: what is found, by whom, in which language, and what never is."""

import uuid

import pytest

from memwarden_service import wording
from serving import inside, stack

LANGUAGES = {
    "uk": ("Марія любить пити каву без цукру.", "кава з цукром"),
    "cs": ("Zákazník preferuje faktury poštou.", "faktura"),
    "ko": ("고객은 이메일로 청구서를 받는 것을 선호합니다.", "청구서"),
    "ru": ("Клиент предпочитает получать счета по почте.", "счёт почтой"),
    "zh": ("客户希望通过邮件收到发票。", "发票"),
    "ja": ("顧客は請求書をメールで受け取りたい。", "請求書"),
    "ar": ("العميل يفضل الفواتير بالبريد.", "عميل وبريد"),
    "de": ("Der Kunde bevorzugt Rechnungen per Post.", "Rechnung"),
    "en": ("The deployment was rolled back on Friday.", "deployments rolling back"),
}
NAMES = ("src/app/main_loop.py", "v2.31.7", "getUserName", "CVE-2024-10976")
PARTS = {"main_loop.py": 0, "UserName": 2, "10976": 3}


@pytest.fixture(scope="module")
def agent(service, operator, cluster):
    operator.put(
        "search",
        [
            stack.grant("agents", [stack.account("agent")], access="Write", domains=["open/**"]),
            stack.grant("bosses", [stack.account("boss")], access="Admin"),
            stack.policy("all", "Accept"),
            {
                "kind": "MemoryPolicy",
                "name": "no-guesses",
                "spec": {"recall": [{"name": "hide", "when": "memory.category == 'guess'", "action": "Hide"}]},
            },
        ],
    )
    with service.client(cluster.token("search", "agent")) as client:
        yield client


@pytest.fixture(scope="module")
def boss(service, agent, cluster):
    with service.client(cluster.token("search", "boss")) as client:
        yield client


def write(client, content, domain="open/x", **more):
    answer = client.post("/v1/memories", json=stack.proposal(content, domain=domain, confidence=0.9, **more))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def ask(client, query, **more):
    answer = client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def scores(client, query):
    return {hit["memory"]["id"]: hit["score"] for hit in ask(client, query)["hits"]}


def found(client, query, **more):
    return [hit["memory"]["id"] for hit in ask(client, query, **more)["hits"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_memory_is_found_in_its_language(agent, language):
    content, question = LANGUAGES[language]
    written = write(agent, content, domain=f"open/{language}")
    assert found(agent, question)[0] == written


def test_names_are_found_whole_and_by_part(agent):
    written = [write(agent, f"Look at {name} first.", domain="open/names") for name in NAMES]
    for name, memory in zip(NAMES, written, strict=True):
        assert found(agent, name)[0] == memory
    for part, at in PARTS.items():
        assert written[at] in found(agent, part)


def test_nobody_finds_what_they_may_not_read(agent, boss):
    secret = write(boss, "The zyzzogeton is in the cellar.", domain="closed/x")
    assert found(agent, "zyzzogeton") == []
    assert found(boss, "zyzzogeton") == [secret]
    assert found(agent, "zyzzogeton", domain="closed/x") == []


def test_what_a_reader_may_not_see_moves_no_score(agent, boss):
    write(agent, "A quokka and a numbat.", domain="open/hidden")
    before = scores(agent, "quokka numbat")
    for index in range(5):
        write(boss, f"Many a quokka, number {index}.", domain="closed/x")
    assert scores(agent, "quokka numbat") == pytest.approx(before)


def test_a_rule_on_reading_hides_and_the_page_is_still_full(agent):
    for index in range(40):
        write(agent, f"Perhaps an axolotl, {index}.", domain="open/guess", category="guess")
    plain = {write(agent, f"There is an axolotl here, in tank {index}.", domain="open/guess") for index in range(12)}
    assert set(found(agent, "perhaps an axolotl", limit=12)) == plain


def test_an_edit_a_deletion_and_a_successor_are_at_once_what_is_found(agent):
    old = write(agent, "Prefers kohlrabi.", domain="open/edit")
    assert found(agent, "kohlrabi") == [old]
    assert agent.patch(f"/v1/memories/{old}", json={"content": "Prefers rutabaga."}).status_code == 200
    assert found(agent, "kohlrabi") == []
    assert found(agent, "rutabaga") == [old]
    place = {"domain": "open/edit", "topic": "vegetable", "subject": "c-1"}
    first = write(agent, "Likes salsify.", **place)
    second = write(agent, "Likes skirret.", **place)
    assert found(agent, "salsify") == []
    assert found(agent, "skirret") == [second] != [first]
    assert agent.delete(f"/v1/memories/{old}").status_code == 200
    assert found(agent, "rutabaga") == []


def test_filters_and_pages(agent):
    written = [
        write(
            agent,
            f"Invoice {index} mentions a marmoset.",
            domain="open/pages",
            category="even" if index % 2 == 0 else "odd",
            observed_at=f"2026-01-{index + 1:02}T00:00:00Z",
        )
        for index in range(25)
    ]
    assert len(found(agent, "marmoset", category="even", limit=100)) == 13
    assert set(found(agent, "marmoset", observed_after="2026-01-24T00:00:00Z", limit=100)) == set(written[23:])
    assert set(found(agent, "marmoset", observed_before="2026-01-03T00:00:00Z", limit=100)) == set(written[:2])
    assert found(agent, "marmoset", confidence_min=0.95) == []
    assert found(agent, "marmoset", source="imported") == []
    assert len(found(agent, "marmoset", domain="open/pages", memory_type="semantic")) == 10
    seen, cursor = [], None
    while True:
        page = ask(agent, "marmoset", limit=13, **({"cursor": cursor} if cursor else {}))
        seen += [hit["memory"]["id"] for hit in page["hits"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(written)
    first = ask(agent, "marmoset", limit=13)["next"]
    assert agent.post("/v1/search", json={"query": "other", "limit": 13, "cursor": first}).status_code == 422


def test_a_hit_says_what_it_is_made_of_if_asked(agent):
    write(agent, "The tapir sleeps.", domain="open/why")
    assert ask(agent, "tapir")["hits"][0]["explanation"] is None
    told = ask(agent, "tapir", explain=True)["hits"][0]
    assert sum(told["explanation"]["because"].values()) * told["explanation"]["strength"] == pytest.approx(
        told["score"]
    )


def test_what_was_said_around_it_is_part_of_it(agent):
    session = str(uuid.uuid4())
    said = ["Ann: Where did you find the okapi?", "Bob: In the attic, behind the boxes."]
    question, answer = [write(agent, each, domain="open/talk", session=session) for each in said]
    assert found(agent, "Where is the okapi?")[:2] in ([answer, question], [question, answer])


def test_what_is_not_to_be_searched_is_not(agent, database):
    envelope = {"server_content_search_enabled": False, "server_embeddings_enabled": False}
    unread = write(agent, "A pangolin, not to be searched.", domain="open/unread", envelope=envelope)
    assert found(agent, "pangolin") == []
    with database.admin() as connection:
        kept = "select words is null from memwarden.memory where id = %s"
        assert connection.execute(kept, (unread,)).fetchone() == (True,)


def test_the_index_holds_what_is_in_force_and_nothing_else(agent, database):
    write(agent, "One more row, so that there is something.", domain="open/last")
    with database.admin() as connection:
        differ = """
          with wanted as (select m.workspace_id, f.key as lexeme, m.id, m.domain_id, m.owner, f.value::integer,
            (m.words ->> 'length')::integer from memwarden.memory m, jsonb_each_text(m.words -> 'lexemes') f)
          select count(*) from ((table wanted except table memwarden.posting)
            union all (table memwarden.posting except table wanted)) d"""
        assert connection.execute(differ).fetchone() == (0,)
        shelves = """
          with wanted as (select m.workspace_id, m.domain_id, coalesce(m.owner, ''), count(*),
            sum((m.words ->> 'length')::integer) from memwarden.memory m where m.words is not null group by 1, 2, 3)
          select count(*) from ((table wanted except select * from memwarden.shelf s where s.memories > 0)
            union all (select * from memwarden.shelf s where s.memories > 0 except table wanted)) d"""
        assert connection.execute(shelves).fetchone() == (0,)


def test_what_was_written_before_is_read_in_the_background(agent, database, cluster):
    written = write(agent, "An aye-aye was here before.", domain="open/before")
    with database.admin() as connection:
        connection.execute("update memwarden.memory set words = null where id = %s", (written,))
    assert found(agent, "aye-aye") == []

    async def read():
        async with inside.running(database.url, cluster.kubeconfig) as (running, _):
            return [await wording.read_all(running.database) for _ in range(2)]

    first, second = inside.run(read())
    assert (first >= 1, second) == (True, 0)
    assert found(agent, "aye-aye") == [written]
