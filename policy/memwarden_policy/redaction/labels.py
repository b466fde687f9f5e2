"""Secrets that are known by what stands before them: labels, headers, addresses, options, and plain sentences."""

import base64
import binascii
from typing import Any

import re2

from memwarden_policy.redaction.checks import STOP_WORDS, entropy, is_random, is_reference, is_stand_in
from memwarden_policy.redaction.model import Category, Lead, Locate, Match, Rule, Span

RANK = 30
PASSWORD_LENGTH_MIN = 3
LABEL_REACH_BYTES = 256  # A longer value is cut to its end all the same.
VALUE_GROUPS = 4  # In quotes of three sorts, and without.
SECRET_LENGTH_MIN = 8
BASIC_LENGTH_MIN = 5
CLOUD_SECRET_LENGTH_MIN = 20
CHOSEN_LENGTH_MIN = 5
CHOSEN_ENTROPY_MIN = 1.5

_STRONG = (
    "pass(?:word|wd|phrase|code|wort)|pwd|kennwort|contrase(?:\xf1|n)a|mot de passe|senha|parola|wachtwoord"
    "|(?:П|п)арол(?:ь|я|ем)|密码|密碼|口令|パスワード|비밀번호|암호|(?:user|db|smtp|ftp|mail|redis|mysql|proxy|admin)_?pass"
)
_KEYED = (
    "(?:api|app|auth|access|secret|private|encryption|signing|signature|master|account|consumer|subscription|storage"
    "|shared|service|license|admin|client|hmac|aes|deploy|root|functions?|host|session|webhook|integration|project)"
    "(?: ?|[_.-])(?:access)?[_-]?key"
)
_SECRET = (
    "(?:client|app|application|consumer|api|shared|signing|webhook|jwt|oauth|session|cookie|user|token)?(?: |[_.-])?secret(?:[ _-]?(?:value|token))?"
    "|token|credentials?|auth(?:orization)?[_-]?(?:code|header)|session[_-]?id|sessionid|phpsessid|jsessionid|sid"
    "|x-[a-z0-9-]{0,24}(?:key|token|auth)|cookie[_-]?secret|salt|\\bpat|otp[_-]?secret|totp[_-]?(?:secret|seed)"
)
_AWS = "aws[_ .-]?secret(?:[_ .-]?access)?[_ .-]?key|secretaccesskey|secret access key|aws[_ .-]?session[_ .-]?token"
_GAP = r"""(?:\\?["'`*\])]|_token|_value){0,3} ?"""
_VALUE = (
    r"""[=>]{0,2}\*{0,2}[ \t]{0,8}(?:\\?\n[ \t]{1,16})?(?:(?:[bru]|Bearer |Token |Basic |ENC)?"""
    r"""(?:\\?"((?:[^"\\\n]|\\[^"\n])+)(?:\\?")?|\\?'([^'\n]+)'?|`([^`\n]+)`?|([^\s"'`<>]+(?:<[^\s<>]{0,64}>)?))"""
    r"""|(<[^>\n]{0,64}>))([ \t]+[A-Za-z]{1,24}\b)?"""
)
_LIST = r"""["'] ?, ?"""
_NEXT_FIELD = re2.compile(rb"(?:[;,&|]|\\n)(?:[A-Za-z_][\w .-]{0,32}[=:]|$)")
_TRAILING = b",;.)}]|!?\\*"
_PLAIN_WORD = re2.compile(rb"[A-Za-z][a-z]*$|[A-Z]+$")
_NUMBER = re2.compile(rb"-?\d+(?:\.\d+)?[a-z%]{0,2}$")
_DATE = re2.compile(rb"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}$|v?\d+\.\d+(?:\.\d+)?$")


def _cut(match: Match) -> tuple[Span, bytes, bool] | None:
    """Return the value's span, the value, and whether it stood in quotes; None: there is none, or a plain word."""
    for index in range(1, VALUE_GROUPS + 1):
        start, end = match.span(index)
        if start >= end:
            continue
        value = match.group(index) or b""
        quoted = index != VALUE_GROUPS
        if not quoted:
            value = _until_next_field(value)
        if len(value) < PASSWORD_LENGTH_MIN or value.lower().decode(errors="replace") in STOP_WORDS:
            return None
        return (start, start + len(value)), value, quoted
    return None


def _until_next_field(value: bytes) -> bytes:
    following = None if value.isalnum() else _NEXT_FIELD.search(value)
    if following and following.start() > 0:
        value = value[: following.start()]
    return value.rstrip(_TRAILING) or value


def _is_word_of_a_sentence(match: Match, value: bytes) -> bool:
    """Say whether an unquoted value is one word of prose: `password: must be long`."""
    return bool(_PLAIN_WORD.match(value)) and match.span(6)[0] >= 0


def _is_none_at_all(value: bytes) -> bool:
    return value.lower().decode(errors="replace") in STOP_WORDS or is_reference(value) or is_stand_in(value)


def password(match: Match) -> Span | None:
    """Locate what follows a label that only ever names a secret a person chose."""
    cut = _cut(match)
    if cut is None:
        return None
    span, value, quoted = cut
    is_a_word = not quoted and _is_word_of_a_sentence(match, value)
    if is_a_word or _is_none_at_all(value) or (b" " in value and _is_a_sentence(value)):
        return _nothing_until(span)
    return span


def _nothing_until(span: Span) -> Span:
    return span[1], span[1]


def _is_a_sentence(value: bytes) -> bool:
    words = value.lower().split()
    return 2 * sum(word.decode(errors="replace").strip(".,:") in STOP_WORDS for word in words) >= len(words)


def secret(match: Match) -> Span | None:
    """Locate what follows a label that may name a secret, when the value looks drawn by lot."""
    cut = _cut(match)
    if cut is None:
        return None
    span, value, _ = cut
    is_too_short = len(value) < SECRET_LENGTH_MIN or b" " in value
    if is_too_short or _is_none_at_all(value) or _NUMBER.match(value) or _DATE.match(value) or not is_random(value):
        return _nothing_until(span)
    return span


def cloud_secret(match: Match) -> Span | None:
    """Locate a cloud provider's secret key after its label."""
    found = secret(match)
    return found if found and found[1] - found[0] >= CLOUD_SECRET_LENGTH_MIN else None


def basic(match: Match) -> Span | None:
    """Locate the credential of HTTP Basic: base64 of `user:password`."""
    value = match.group(1) or b""
    try:
        decoded = base64.b64decode(value + b"=" * (-len(value) % 4))
    except binascii.Error:
        return None
    _, colon, chosen = decoded.partition(b":")
    if not colon or len(decoded) < BASIC_LENGTH_MIN or not decoded.isascii() or is_reference(chosen):
        return None
    return None if b"pass" in chosen.lower() and is_stand_in(chosen) else match.span(1)


def bearer(match: Match) -> Span | None:
    """Locate a bearer token: long, with digits, no stand-in."""
    value = match.group(1) or b""
    if is_reference(value) or is_stand_in(value) or not is_random(value):
        return None
    return match.span(1)


def userinfo(match: Match) -> Span | None:
    """Locate the password in `scheme://user:password@host`."""
    value = match.group(1) or b""
    return None if _is_none_at_all(value) else match.span(1)


def parameter(match: Match) -> Span | None:
    """Locate the value of a secret query parameter."""
    value = match.group(1) or b""
    if _is_none_at_all(value) or (_NUMBER.match(value) and len(value) < 6):
        return None
    return match.span(1) if is_random(value) or b"pass" in (match.group() or b"").lower()[:16] else None


def spoken(match: Match) -> Span | None:
    """Locate the secret of a sentence: `my password is ...`."""
    cut = _cut(match)
    if cut is None:
        return None
    span, value, quoted = cut
    is_a_word = not quoted and _is_word_of_a_sentence(match, value)
    return None if _is_none_at_all(value) or is_a_word else span


def chosen(match: Match) -> Span | None:
    """Locate a secret given without any mark, as in `login with admin / s3cret`: it must look chosen as a password."""
    value = match.group(1) or b""
    marked = any(48 <= byte <= 57 or byte in b"!@#$%^&*" for byte in value)
    lettered = any(65 <= byte <= 90 or 97 <= byte <= 122 for byte in value)
    mixed = marked and lettered and entropy(value) > CHOSEN_ENTROPY_MIN
    return match.span(1) if mixed and len(value) >= CHOSEN_LENGTH_MIN and not _is_none_at_all(value) else None


def _after(words: str, delimiter: str = "[:=>]") -> tuple[Lead, ...]:
    return (Lead(f"(?:{words}){_GAP}{delimiter}", 0, caseless=True),)


def _listed(words: str) -> tuple[Lead, ...]:
    return (Lead(f"(?:{words}){_LIST}", 0, caseless=True),)


def _rule(kind: str, leads: tuple[Lead, ...], pattern: str, locate: Locate, **more: Any) -> Rule:
    settings: dict[str, Any] = {
        "category": Category.CREDENTIAL,
        "apart": False,
        "rank": RANK,
        "reach": LABEL_REACH_BYTES,
    } | more
    return Rule(kind=kind, leads=leads, pattern=pattern, locate=locate, **settings)


_FOR = " (?:for|to|of|on|at|in|pour|f(?:ü|ue)r|para|de|до|для|от|від) [^.\n]{1,60}"
_BE = "(?:ist|is|was|are|lautet|war|est|es|era)\\b|é|—|-|это|є|це|：|是|為|为|は|은|는"
# A colon right behind the word is a label, which another rule knows.
_IS = f"(?:{_FOR} ?(?:{_BE}|[:=])| ?(?:{_BE}))"
_MINE = "(?:my|our|the|mein|das|mi|la|mon|le|мій|наш|мой|пароль)"
_SPOKEN_VALUE = (
    r"""[ \t]*:?[ \t]*(?:now |still |currently |set to |actually |also |just |simply )?(?:"([^"\n]+)"|'([^'\n]+)'|[`“„«「]([^`”“»」\n]+)[`”“»」]|([^\s"'`<>]+))()"""
    r"""([ \t]+[A-Za-z]{1,24}\b)?"""
)


_RULES: tuple[Rule, ...] = (
    _rule("aws-secret-key", _after(_AWS), _VALUE, cloud_secret, category=Category.CLOUD, rank=4),
    _rule("password", _after(_STRONG), _VALUE, password),
    _rule("password", _listed(_STRONG), r"""["']([^"'\n]+)["']""", chosen),
    _rule("api-key", _after(_KEYED), _VALUE, secret, rank=RANK + 1),
    _rule("secret", _after(_SECRET), _VALUE, secret, rank=RANK + 2),
    _rule("password", (Lead(r"(?:--?(?:pass(?:word|wd|phrase)?|pwd)) ", 0),), _VALUE, password),
    _rule(
        "secret",
        (Lead(r"--(?:api-?key|(?:auth-?|access-?)?token|secret|client-secret|secret-key) ", 0),),
        _VALUE,
        secret,
    ),
    _rule("password", (Lead(r"(?:-u|--user) ", 0),), r"""["']?[\w.@-]{1,64}:([^\s"'@]{3,128})""", userinfo),
    _rule(
        "password",
        (Lead(r"(?:identified by|with password|sshpass -p) ?", 0, True),),
        r"""\s*['"]?([^\s'";]{3,128})""",
        chosen,
    ),
    _rule("password", (Lead(r"login \S{1,64}\s{1,8}password\s", 0, True),), r"\s*(\S{3,128})", userinfo),
    _rule("password", (Lead("mysql[a-z]{0,8} [^\n|]{0,64}-p", 0),), r"([^\s'\"]{4,64})", chosen),
    _rule("basic-auth", (Lead(r"basic\s", 0, True),), r"\s*([A-Za-z0-9+/]{8,}={0,2})", basic, rank=RANK - 1),
    _rule(
        "bearer-token",
        (Lead(r"bearer\s", 0, True), Lead(r"authorization: token\s", 0, True)),
        r"\s*([\w.~+/-]{16,}=*)",
        bearer,
        rank=RANK - 1,
    ),
    _rule(
        "url-password",
        (Lead("://", 3),),
        r"""://[^\s/:@"'<>?#]*:([^\s"'<>]+?)@[^\s@/"'<>]+(?:[/\s"'?<>:),;`]|$)""",
        userinfo,
        rank=RANK - 5,
    ),
    _rule(
        "url-secret",
        (
            Lead(
                r"[?&#](?:[a-z_-]{0,24}(?:token|api_?key|secret|password|passwd|pwd|signature)|x-amz-signature|x-goog-signature|access_?key|auth|key|sig|code|sas|hmac|session)=",
                0,
                True,
            ),
        ),
        r"""([^\s"'<>&#;]{3,})""",
        parameter,
        rank=RANK - 5,
    ),
    _rule(
        "password",
        (Lead(f"(?:{_STRONG}|passcode|(?:wifi|wi-fi|vpn|ssh|admin|root) (?:key|login)){_IS}", 0, True),),
        _SPOKEN_VALUE,
        spoken,
        rank=RANK + 5,
    ),
    _rule(
        "password",
        (Lead(r"(?:login|log in|logged in|sign in|signin|credentials?|creds?)[\s:]", 0, True),),
        r"""\s*(?:(?:is|are|as|with|using|to|into|for|via|the|[\w.-]{1,24})\s+){0,5}["'`]?[\w.@+-]{2,64}["'`]?\s?(?:/|:|and|\|)\s?(?:(?:the )?password )?["'`]?([^\s"'`,]{4,64})""",
        chosen,
        rank=RANK + 6,
    ),
    _rule(
        "password",
        (Lead(f"{_MINE} (?:[a-z0-9-]{{1,16}} )?(?:{_STRONG}) ", 0, True),),
        r"""["'`]?([^\s"'`<>:,]{6,64})""",
        chosen,
        rank=RANK + 7,
    ),
    _rule("password", _after(_STRONG, "[|]"), r"""\s*[`]?([^\s`|]{3,64})""", chosen, rank=RANK + 7),
    _rule(
        "api-key",
        (
            Lead(
                f"(?:{_KEYED}|(?:access |auth |api |bearer )?token|(?:client |api |app )?secret|key)(?:{_FOR})? ?(?:is|was|=)\\b",
                0,
                True,
            ),
        ),
        r"\s*:?\s*()()()([^\s\"'`<>]{16,})()()",
        secret,
        rank=RANK + 5,
    ),
    _rule(
        "password",
        (Lead(r"name: ?[\"']?[\w.-]{0,48}(?:password|passwd|pwd|passphrase)[\"']?\s", 0, True),),
        r"\s*-?\s*\"?value\"?\s?:" + _VALUE,
        password,
        rank=RANK + 1,
    ),
    _rule(
        "secret",
        (Lead(r"name: ?[\"']?[\w.-]{0,48}(?:secret|token|key)[\"']?\s", 0, True),),
        r"\s*-?\s*\"?value\"?\s?:" + _VALUE,
        secret,
        rank=RANK + 1,
    ),
    _rule(
        "recovery-phrase",
        (Lead(r"(?:seed|recovery|mnemonic|backup)(?: (?:phrase|words|seed))? ?(?:is|:|=|-)", 0, True),),
        r"\s*[\"'`]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
        lambda match: match.span(1),
        rank=RANK - 2,
    ),
)


def label_rules() -> tuple[Rule, ...]:
    """Return the rules of secrets that are known by what stands before them."""
    return _RULES
