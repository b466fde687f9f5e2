"""Numbers and addresses of people: payment cards, account numbers, one-time codes; e-mail and phone when asked."""

from typing import Any

import re2

from memwarden_policy.redaction.checks import holds_luhn, holds_mod97
from memwarden_policy.redaction.model import Category, Lead, Locate, Match, Rule, Span

RANK = 50
CARD_LENGTHS = {3: {14, 15}, 4: {13, 16, 19}, 5: {16}, 6: {16, 19}, 2: {16}}
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
PHONE_DIGITS_MIN = 8
PHONE_DIGITS_MAX = 15
_SEPARATORS = re2.compile(rb"[ .-]")
_NOT_DIGITS = re2.compile(rb"\D+")
# Domains kept for documentation (RFC 2606): nobody's address.
_EXAMPLE_MAIL = re2.compile(rb"(?i)@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|example|invalid|test|localhost)$")


def card(match: Match) -> Span | None:
    """Locate a payment card: a brand's first digits and length, evenly grouped, and the check digit."""
    text = match.group() or b""
    digits = _SEPARATORS.sub(b"", text)
    separators = set(_SEPARATORS.findall(text))
    if len(separators) > 1 or len(set(digits)) < 3 or len(digits) not in CARD_LENGTHS.get(digits[0] - 48, ()):
        return None
    return match.span() if _is_a_brand(digits) and holds_luhn(digits) else None


def _is_a_brand(digits: bytes) -> bool:
    first = int(digits[:4])
    return (
        digits[:1] == b"4"
        or 5100 <= first <= 5599
        or 2221 <= first <= 2720
        or digits[:2] in {b"34", b"37", b"36", b"38", b"65", b"35", b"62"}
        or first == 6011
        or 3000 <= first <= 3059
    )


def iban(match: Match) -> Span | None:
    """Locate an account number of a country's own length whose check digits hold, written with or without spaces."""
    start, _ = match.span()
    text = match.group() or b""
    wanted = IBAN_LENGTHS.get(text[:2].decode(errors="replace"), 0)
    kept = bytearray()
    for position, byte in enumerate(text):
        if byte != 32:
            kept.append(byte)
        if len(kept) == wanted:
            ends = not text[position + 1 : position + 2].strip()
            return (start, start + position + 1) if ends and holds_mod97(bytes(kept)) else None
    return None


def code(match: Match) -> Span | None:
    """Locate a one-time code, unless it is a year."""
    value = match.group(1) or b""
    is_a_year = len(value) == 4 and value[:2] in {b"19", b"20"}
    return None if is_a_year else match.span(1)


def email(match: Match) -> Span | None:
    """Locate an e-mail address that may be somebody's."""
    return None if _EXAMPLE_MAIL.search(match.group() or b"") else match.span()


def phone(match: Match) -> Span | None:
    """Locate a phone number by the count of its digits."""
    digits = _NOT_DIGITS.sub(b"", match.group(1) or b"")
    return match.span(1) if PHONE_DIGITS_MIN <= len(digits) <= PHONE_DIGITS_MAX and len(set(digits)) > 2 else None


_CODE_WORDS = (
    "one[- ]?time (?:code|password|passcode|pin)|otp(?: code)?|(?:verification|security|confirmation|login|sign-?in|"
    "authentication|authenticator|2fa|mfa|two-factor|sms|access|backup|recovery|activation) (?:code|pin)|"
    "(?:Best(?:ä|ae)tigungs|Einmal|Sicherheits|Verifizierungs|Anmelde)-?(?:code|passwort)|\\bTAN|"
    "c(?:ó|o)digo de (?:verificaci(?:ó|o)n|seguridad|acceso)|код (?:подтверждения|підтвердження|доступу|доступа)|"
    "验证码|驗證碼|認証コード|確認コード|인증번호|인증 코드|passcode|\\bpin(?: code| number)?"
)
# What may stand between the words and the first digit.
_TO_THE_DIGITS = (
    "(?: (?:for|to|von|für|para|для) [^.\n:0-9]{1,40})? ?(?:is|ist|lautet|es|was|[:=#]|：|—|-|是|為|为|は|은|는|это|це)?"
    " ?:?[ \t]{0,2}[\"'`*]{0,2}(?:[A-Z]-)?[0-9]"
)
_CODE = r"(\d{3}[ -]\d{3}|\d{4,8})\b"
_TOLD = r"\b(\d{3}[ -]\d{3}|\d{4,8}|[A-Z]-\d{6}) (?:is|ist|es|est) (?:your|the|my|dein|ihr|su|tu|votre)\b[^.\n]{0,40}?(?i:code|pin|otp|password)"
_EMAIL = r"[\pL\pN._%+'-]+@(?:[\pL\pN-]+\.)+\pL{2,24}\b"
_PHONE = (
    r"(?:^|[^\w.+-])(\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d(?:[ .-]?\d){5,13}"
    r"|\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}|\(?0\d{2,4}\)?[ /-]\d{3,4}[ -]?\d{3,5}(?:[ -]?\d{1,4})?)(?:[^\w-]|$)"
)
_PHONE_GATE = r"\+[0-9]{1,3}[ .(0-9-]|[0-9]{3}\)?[ .-][0-9]{3}|0[0-9]{2,4}\)?[ /-][0-9]{3}"
_TO_THE_PHONE = r"(?: (?:number|no\.?|me|us|is|at|on|:|=|nummer|номер)){0,4} ?[:=：]? {0,2}\+?\(?[0-9]"
_PHONE_SAID = r"(\d(?:[ ()./-]{0,2}\d){6,14})"


def _rule(kind: str, leads: tuple[Lead, ...], pattern: str, locate: Locate, **more: Any) -> Rule:
    settings: dict[str, Any] = {"category": Category.PAYMENT, "rank": RANK} | more
    return Rule(kind=kind, leads=leads, pattern=pattern, locate=locate, **settings)


def number_rules() -> tuple[Rule, ...]:
    """Return the rules that hold for every text."""
    otp: dict[str, Any] = {"category": Category.ONE_TIME_CODE, "apart": False, "rank": RANK + 1}
    return (
        _rule(
            "payment-card",
            (Lead("(?:^|[^.])[2-6][0-9]{7}", 8), Lead("(?:^|[^.])[2-6][0-9]{3}[ -][0-9]{4}", 9)),
            r"[2-6]\d{3}(?:[ -]?\d){9,15}",
            card,
            closed=True,
        ),
        _rule("iban", (Lead("[A-Z]{2}[0-9]{2}", 4),), r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}", iban),
        _rule("one-time-code", (Lead(f"(?:{_CODE_WORDS}){_TO_THE_DIGITS}", 1, caseless=True),), _CODE, code, **otp),
        _rule(
            "one-time-code",
            (),
            _TOLD,
            code,
            gate="[0-9]{3} (?:is|ist|es|est) (?:your|the|my|dein|ihr|su|tu|votre)",
            **otp,
        ),
    )


def contact_rules() -> tuple[Rule, ...]:
    """Return the rules that hold when the owner's contact data is to be cut as well."""
    contact: dict[str, Any] = {"category": Category.CONTACT, "apart": False, "rank": RANK + 10}
    said = "(?:tele)?phone|mobile|cell|tel|fax|call(?: me)?|whatsapp|telefon|handy|телефон|电话|電話|전화"
    return (
        _rule("email", (), _EMAIL, email, gate="@", **contact),
        _rule("phone", (), _PHONE, phone, gate=_PHONE_GATE, **contact),
        _rule("phone", (Lead(f"(?:{said}){_TO_THE_PHONE}", 1, caseless=True),), _PHONE_SAID, phone, **contact),
    )
