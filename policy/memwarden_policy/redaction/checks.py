"""Questions about a value that no expression answers: is it random, is it a placeholder, does its checksum hold?"""

import math
from collections import Counter
from itertools import pairwise

import re2

_STOP = """
    a an the is are was be been not no yes on off true false null none nil undefined empty unset missing required
    optional default string str text varchar char int integer number bool boolean bytes any object list array dict
    password passwd pwd secret token key value user username login admin-password field label type name input hidden
    masked enabled disabled invalid incorrect wrong valid correct expired rotated reset changed stored hashed
    encrypted protected needed mandatory allowed forbidden unknown n/a na tbd todo env environment file vault keyring
    keychain bearer basic digest oauth oauth2 jwt saml oidc sso md5 sha256 bcrypt argon2 scrypt pbkdf2 plain
    too only never always for of in at to from with by and or if when must should may can will it its this that your
    my our their his her please here there same different see set use used via per as so also still both either
    sent shown visible readable printed generated provided given created read written kept
    """
STOP_WORDS = frozenset(_STOP.split())
# Words that documentation builds stand-ins from: `my-secret-key`, `your_token_here`.
_STAND_IN_WORDS = """
    api app application auth access account client server service db database test testing demo dev staging prod
    production local sample example examples dummy fake foo bar baz qux mock placeholder change changeme replace
    replaceme insert enter some secretkey apikey mykey goes put id new old current credentials credential config
    ref reference host root main tls ssl cert ca key1 key2 bot web hook webhook session cookie private public shared
    real actual redacted removed super random long strong complex secure super-secret value1 abc xyz hash salt
    """
VOCABULARY = STOP_WORDS | frozenset(_STAND_IN_WORDS.split())
STAND_INS = (
    b"example", b"placeholder", b"changeme", b"change-me", b"change_me", b"your", b"redacted", b"dummy", b"xxxx",
    b"replace", b"insert", b"...", b"\xe2\x80\xa6", b"****", b"todo", b"not-a-real", b"notreal", b"fixme", b"sample",
)  # fmt: skip
_REFERENCE = re2.compile(
    rb"(?:\[(?:#{3}|REDACTED:)|[A-Z]+(?:_[A-Z]+)+$|\$[A-Za-z_{(]|\\?\$\{|<[^>]*>?$|<|\{\{|\{%|%[A-Za-z_]\w*%$|%\(|%[sdv]$|!\w|&\w+$|@\w+[({.:]|\(|\[[A-Za-z_(]|#\{|\{[A-Za-z_.]*\}"
    rb"|[A-Za-z_][\w.:]*\(|[A-Za-z_][\w.]*\[|\?|(?:\.{0,2}|~)/[\w.-]+/|[A-Za-z]:\\|file:|https?://|secret://|vault:|op://|arn:"
    rb"|[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_][A-Za-z_]*)+\)?$|[A-Za-z_]+->|\*+$|[.]+$)"
)
_WORDS = re2.compile(rb"[A-Za-z]+\d?(?:[-_.][A-Za-z]*\d{0,2})*$")
SEQUENCES = b"abcdefghijklmnopqrstuvwxyz0123456789012345678901234567890 abcdef0123456789abcdef0123456789"
SEQUENCE_LENGTH_MIN = 9
SEQUENCE_LOOK_BYTES = 64
# What is looked at of a long value: enough to judge it.
LOOK_BYTES = 128
DISTINCT_MIN = 4
_SEPARATORS = bytes.maketrans(b"-_./", b"    ")
_STAND_INS = re2.compile(b"|".join(re2.escape(word) for word in STAND_INS))


def entropy(value: bytes) -> float:
    """Return the Shannon entropy in bits per byte."""
    value = value[:LOOK_BYTES]
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values()) if total else 0.0


def is_reference(value: bytes) -> bool:
    """Say whether the value names where a secret lies instead of being one: `${VAR}`, `<your-key>`, `config.key`."""
    return bool(_REFERENCE.match(value))


def is_stand_in(value: bytes) -> bool:
    """Say whether the value is what documentation writes where a secret would be."""
    lower = value[:LOOK_BYTES].lower()
    if len(set(lower)) < min(DISTINCT_MIN, len(lower)) or _STAND_INS.search(lower):
        return True
    words = lower.translate(_SEPARATORS).decode(errors="replace").split()
    return all(word in VOCABULARY for word in words)


def is_sequence(value: bytes) -> bool:
    """Say whether a part of the value is counted up, `1234567890abcdef`, as in a made-up token."""
    lower = value[:SEQUENCE_LOOK_BYTES].lower()
    return any(
        lower[start : start + SEQUENCE_LENGTH_MIN] in SEQUENCES for start in range(len(lower) - SEQUENCE_LENGTH_MIN + 1)
    )


def is_made_up(value: bytes) -> bool:
    """Say whether a token of the right form is only there to be looked at."""
    return len(set(value)) < 6 or bool(_STAND_INS.search(value.lower())) or is_sequence(value)


def is_random(value: bytes) -> bool:
    """Say whether the value looks drawn by lot rather than chosen as a name."""
    value = value[:LOOK_BYTES]
    if len(value) < 8 or (_WORDS.match(value) and not _is_mixed(value)):
        return False
    has_digit = any(48 <= byte <= 57 for byte in value)
    return (has_digit or (_is_mixed(value) and len(value) >= 16)) and entropy(value) >= 2.5


def is_remainder(value: bytes) -> bool:
    """Say whether a few characters look like the rest of a token and not like the next word of a text."""
    digits = any(48 <= byte <= 57 for byte in value)
    letters = any(byte >= 65 for byte in value)
    inner = any(65 <= right <= 90 and left >= 65 for left, right in pairwise(value)) and not value.isupper()
    return (digits and letters) or inner


def _is_mixed(value: bytes) -> bool:
    """Say whether the case changes inside words often, as it does by chance."""
    if len(value) < 12:
        return False
    changes = sum(
        1
        for left, right in pairwise(value)
        if (97 <= left <= 122 and 65 <= right <= 90) or (48 <= left <= 57 and right >= 65)
    )
    return changes * 5 >= len(value)


def holds_luhn(digits: bytes) -> bool:
    """Say whether the last digit checks the others, as on every payment card."""
    total = 0
    for position, byte in enumerate(reversed(digits)):
        digit = (byte - 48) * (1 + position % 2)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0


def holds_mod97(iban: bytes) -> bool:
    """Say whether the two check digits of an account number hold (ISO 13616)."""
    turned = iban[4:] + iban[:4]
    number = "".join(str(int(chr(byte), 36)) for byte in turned)
    return int(number) % 97 == 1
