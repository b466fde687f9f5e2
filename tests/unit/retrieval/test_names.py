"""Identifiers, versions, paths and code are found whole and by part."""

import pytest

MEMORIES = (
    "The retry loop lives in src/app/main_loop.py and is called by getUserName.",
    "We pinned kubernetes-client to v2.3.1 because of CVE-2024-10976.",
    "Build with C++ and deploy with helm upgrade --install memwarden.",
    "Write to ann@example.com about https://docs.example.com/guides/search?q=1",
    "The team discussed the roadmap and the budget of the next quarter.",
    "Upgrade to 2.4.0 once the loop of reviews is over.",
)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("src/app/main_loop.py", 0),  # whole
        ("main_loop.py", 0),  # the file of a path
        ("what is in main_loop?", 0),
        ("app/main_loop.py", 0),
        ("getusername", 0),  # whatever the case
        ("get user name", 0),  # the words of an identifier
        ("v2.3.1", 1),
        ("which version is 2.3.1", 1),  # without its v
        ("CVE-2024-10976", 1),
        ("cve 2024", 1),
        ("kubernetes client", 1),
        ("C++", 2),
        ("ann@example.com", 3),
        ("docs.example.com", 3),
        ("guides", 3),
    ],
)
def test_a_name_is_found(search, question, memory):
    best = search(MEMORIES, question)[0]
    assert best.id == f"{memory:03d}"
    assert best.because["lexical"] > 0


def test_the_whole_beats_its_parts(search):
    hits = search(("main loop of app", "see src/app/main_loop.py", "py and src and app"), "src/app/main_loop.py")
    assert hits[0].id == "001"
