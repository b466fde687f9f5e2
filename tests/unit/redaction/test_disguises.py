"""A secret is not safe behind invisible characters, other shapes of letters, broken lines or base64."""

import random

import pytest

from corpora import secrets
from memwarden_policy.redaction import sanitize_server_write

REMAINDER_MAX = 14  # With its line break and indentation.
KINDS = ["github", "aws-access-key", "anthropic", "gitlab", "stripe", "npm"]


@pytest.mark.parametrize("disguise", list(secrets.DISGUISES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_disguised_token_is_cut(kind, disguise):
    rng = random.Random(f"{kind} {disguise}")
    for _ in range(5):
        value = secrets.DISGUISES[disguise](rng, secrets.token(rng, kind))
        done = sanitize_server_write(f"The key {value} is for the uploads.")
        assert done.text.startswith("The key [REDACTED:")
        left = done.text.rpartition("]")[2].removesuffix(" is for the uploads.")
        assert not left or (disguise == "line-break" and len(left) <= REMAINDER_MAX and left.strip().islower())


def test_what_is_not_a_secret_keeps_its_odd_characters():
    text = "Ｆｕｌｌ width, a soft\u00adhyphen, a family 👨\u200d👩\u200d👧 and x² stay as they are."
    assert sanitize_server_write(text).text == text


def test_a_token_over_full_lines_is_cut_to_its_end():
    token = (
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0MiIsIm5hbWUiOiJhbm5hIiwicm9sZSI6ImFkbWluIn0" + ".c2lnbmF0dXJlc2ln" * 1
    )
    token += "bmF0dXJl" * 12
    lines = "\n".join(token[start : start + 64] for start in range(0, len(token), 64))
    done = sanitize_server_write(f"token\n{lines}\nend of it")
    assert done.text == "token\n[REDACTED:jwt]\nend of it"


def test_lines_of_prose_are_not_joined_into_tokens():
    text = "the prefix is ghp_\nfollowed by letters\nand digits of the token\nwhich sk-\nlearn does not use"
    assert sanitize_server_write(text).text == text
