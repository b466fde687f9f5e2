"""Texts with planted secrets of many kinds, in the places where people and programs leave them."""

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

from corpora import ordinary

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"
WORDS = [
    "copper",
    "maple",
    "tiger",
    "harbor",
    "violet",
    "meadow",
    "falcon",
    "ember",
    "cobalt",
    "willow",
    "granite",
    "saffron",
]
SYMBOLS = "!@#$%^*?+="

# kind: beginning, alphabet, length of the rest. The forms are public facts of each vendor.
TOKENS: dict[str, tuple[str, str, int]] = {
    "aws-access-key": ("AKIA", string.ascii_uppercase + "234567", 16),
    "aws-temporary-key": ("ASIA", string.ascii_uppercase + "234567", 16),
    "gcp-api-key": ("AIza", URLSAFE, 35),
    "gcp-oauth-secret": ("GOCSPX-", URLSAFE, 28),
    "digitalocean": ("dop_v1_", HEX, 64),
    "github": ("ghp_", ALNUM, 36),
    "github-oauth": ("gho_", ALNUM, 36),
    "github-fine": ("github_pat_", ALNUM, 82),
    "gitlab": ("glpat-", URLSAFE, 20),
    "slack-bot": ("xoxb-", string.digits, 12),
    "stripe": ("sk_live_", ALNUM, 24),
    "stripe-restricted": ("rk_live_", ALNUM, 24),
    "openai": ("sk-proj-", URLSAFE, 74),
    "anthropic": ("sk-ant-api03-", URLSAFE, 93),
    "huggingface": ("hf_", string.ascii_letters, 34),
    "groq": ("gsk_", ALNUM, 52),
    "npm": ("npm_", ALNUM, 36),
    "pypi": ("pypi-AgEIcHlwaS5vcmcC", URLSAFE, 80),
    "twilio": ("SK", HEX, 32),
    "mailgun": ("key-", HEX, 32),
    "shopify": ("shpat_", HEX, 32),
    "linear": ("lin_api_", ALNUM, 40),
    "databricks": ("dapi", HEX, 32),
    "grafana": ("glsa_", ALNUM, 32),
    "vault": ("hvs.", URLSAFE, 90),
    "pulumi": ("pul-", HEX, 40),
    "newrelic": ("NRAK-", UPPER, 27),
    "doppler": ("dp.pt.", ALNUM, 43),
    "docker": ("dckr_pat_", URLSAFE, 27),
    "postman": ("PMAK-", HEX, 24),
    "rubygems": ("rubygems_", HEX, 48),
    "sonarqube": ("sqp_", HEX, 40),
    "tailscale": ("tskey-auth-k", ALNUM, 12),
    "memwarden": ("mwk_", ALNUM, 43),
    "figma": ("figd_", URLSAFE, 40),
    "notion": ("ntn_", ALNUM, 46),
    "supabase": ("sbp_", HEX, 40),
    "brevo": ("xkeysib-", HEX, 64),
    "sentry": ("sntryu_", HEX, 64),
    "artifactory": ("AKCp", ALNUM, 69),
}
SUFFIXES: dict[str, Callable[[random.Random], str]] = {
    "slack-bot": lambda rng: f"-{_of(rng, string.digits, 12)}-{_of(rng, ALNUM, 24)}",
    "grafana": lambda rng: f"_{_of(rng, HEX, 8)}",
    "postman": lambda rng: f"-{_of(rng, HEX, 34)}",
    "tailscale": lambda rng: f"-{_of(rng, ALNUM, 32)}",
    "brevo": lambda rng: f"-{_of(rng, ALNUM, 16)}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A text with one secret: `value` as it stands in the text, `bare` as it would be used."""

    text: str
    kind: str
    value: str
    bare: str
    disguise: str = ""


def _of(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def token(rng: random.Random, kind: str) -> str:
    """Return a token of a kind of TOKENS that never was anybody's."""
    beginning, alphabet, length = TOKENS[kind]
    body = _of(rng, alphabet, length)
    return beginning + body + (SUFFIXES[kind](rng) if kind in SUFFIXES else "")


def password(rng: random.Random) -> str:
    """Return a password as people choose them."""
    shape = rng.randrange(4)
    if shape == 0:
        return rng.choice(WORDS).capitalize() + rng.choice(SYMBOLS) + str(rng.randint(10, 9999))
    if shape == 1:
        return "-".join(rng.choice(WORDS).capitalize() for _ in range(3)) + str(rng.randint(1, 99))
    if shape == 2:
        return _of(rng, ALNUM + "!#%*", rng.randint(10, 20)) + str(rng.randint(0, 9))
    return rng.choice(WORDS) + str(rng.randint(1950, 2025)) + rng.choice("!?*")


def card(rng: random.Random) -> str:
    """Return a card number whose check digit holds."""
    beginning, length = rng.choice((("4", 16), ("52", 16), ("37", 15), ("6011", 16)))
    digits = beginning + _of(rng, string.digits, length - 1 - len(beginning))
    total = sum(sum(divmod(int(digit) * (1 + (place % 2 == 0)), 10)) for place, digit in enumerate(reversed(digits)))
    whole = digits + str(-total % 10)
    return rng.choice((whole, " ".join(whole[start : start + 4] for start in range(0, length, 4))))


def iban(rng: random.Random) -> str:
    """Return an account number whose check digits hold."""
    country, length, letters = rng.choice((("DE", 22, ""), ("AT", 20, ""), ("NL", 18, "INGB"), ("UA", 29, "")))
    account = letters + _of(rng, string.digits, length - 4 - len(letters))
    check = 98 - int("".join(str(int(char, 36)) for char in f"{account}{country}00")) % 97
    whole = f"{country}{check:02d}{account}"
    return rng.choice((whole, " ".join(whole[start : start + 4] for start in range(0, length, 4))))


def private_key(rng: random.Random) -> str:
    """Return a block in the form of a private key."""
    name = rng.choice(
        ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY")
    )
    body = "\n".join(
        [
            "MII" + _of(rng, BASE64, 61),
            *(_of(rng, BASE64, 64) for _ in range(rng.randint(3, 20))),
            _of(rng, BASE64, 42) + "==",
        ]
    )
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


def jwt(rng: random.Random) -> str:
    """Return a signed token."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {
        "sub": _of(rng, HEX, 12),
        "iss": "https://issuer.internal",
        "exp": rng.randint(1_700_000_000, 1_900_000_000),
    }
    return f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(claims)}.{_of(rng, URLSAFE, 86)}"


# Where a token stands.
PLACES = (
    "The pipeline uses {} for its uploads.", "key: {}", "export SERVICE_KEY={}", '{{"auth": "{}", "retries": 3}}', "Use `{}` until Friday.",
    "curl -H 'X-Api-Key: {}' https://api.internal/v1/orders", "https://api.internal/v1/orders?token={}&limit=10", "token = '{}'",
    "({})", "Anna sent me {}, please do not share it.", "<td>{}</td>", "- name: KEY\n  value: {}", "log: auth failed for key={} from 10.0.0.7",
)  # fmt: skip

Make = Callable[[random.Random], str]
# kind: (a template, what fills it).
SPOKEN: dict[str, tuple[tuple[str, ...], Make]] = {
    "password-label": (
        ("password: {}", "DB_PASSWORD={}", '"password": "{}"', "Passwort: {}", "pwd={};", "passphrase = '{}'", "<password>{}</password>",
         "spring.datasource.password={}", "contraseña: {}", "пароль: {}", "密码：{}", "MYSQL_ROOT_PASSWORD: \"{}\"", "| admin password | {} |", "--password {}"),
        password,
    ),
    "password-spoken": (
        ("My password is {} and I use it everywhere.", "the wifi password is {}.", "Please remember that the admin password is \"{}\".",
         "Mein Passwort ist {}.", "mi contraseña es {}", "мій пароль {}", "мой пароль - {}", "我的密码是{}", "The password for the wiki is {}.", "Login: admin / {}",
         "log in with anna and {}", "credentials are deploy / {}"),
        password,
    ),
    "api-key-label": (("api_key = \"{}\"", "apiKey: {}", "X-API-KEY: {}", "ACCESS_KEY={}", "\"encryptionKey\": \"{}\"", "signing-key: {}"), lambda rng: _of(rng, ALNUM, 32)),
    "secret-label": (("client_secret={}", "\"clientSecret\": \"{}\"", "webhook_secret: {}", "JWT_SECRET={}", "session_id={}", "the client secret is {}"), lambda rng: _of(rng, ALNUM, 40)),
    "hex-label": (("token: {}", "datadog_api_key: {}", "auth_token = {}", "secret: {}"), lambda rng: _of(rng, HEX, 32)),
    "uuid-label": (("HEROKU_API_KEY={}", "api-key: {}", "token: {}"), lambda rng: "-".join(_of(rng, HEX, size) for size in (8, 4, 4, 4, 12))),
    "aws-secret-key": (("aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", "\"SecretAccessKey\": \"{}\""), lambda rng: _of(rng, BASE64, 40)),
    "azure-storage": (("DefaultEndpointsProtocol=https;AccountName=logs;AccountKey={};EndpointSuffix=core.windows.net",), lambda rng: _of(rng, BASE64, 86) + "=="),
    "azure-client-secret": (("AZURE_CLIENT_SECRET={}", "secret {} of the app"), lambda rng: f"{_of(rng, ALNUM, 3)}8Q~{_of(rng, ALNUM, 34)}"),
    "url-password": (("postgres://app:{}@db.internal:5432/app", "redis://:{}@cache.internal:6379/0", "mongodb+srv://root:{}@cluster0.mongodb.net/x", "https://ci:{}@git.internal/repo.git"), lambda rng: _of(rng, ALNUM, 16)),
    "url-parameter": (("https://api.internal/cb?access_token={}&state=1", "https://maps.internal/js?key={}", "https://x.internal/d?X-Amz-Signature={}"), lambda rng: _of(rng, HEX, 40)),
    "bearer": (("Authorization: Bearer {}", "curl -H \"authorization: bearer {}\" https://api.internal", "use bearer {} for now"), lambda rng: _of(rng, URLSAFE, 40)),
    "basic": (("Authorization: Basic {}", "header basic {}"), lambda rng: base64.b64encode(f"svc:{password(rng)}".encode()).decode()),
    "sendgrid": (("SENDGRID_API_KEY={}", "mail key {} works"), lambda rng: f"SG.{_of(rng, URLSAFE, 22)}.{_of(rng, URLSAFE, 43)}"),
    "telegram": (("bot {} answers", "TELEGRAM={}"), lambda rng: f"{_of(rng, '123456789', 10)}:AA{_of(rng, URLSAFE, 33)}"),
    "discord": (("bot token {}", "DISCORD={}"), lambda rng: f"M{_of(rng, ALNUM, 23)}.{_of(rng, ALNUM, 6)}.{_of(rng, ALNUM, 27)}"),
    "mailchimp": (("mailchimp {}", "MC={}"), lambda rng: f"{_of(rng, HEX, 32)}-us{rng.randint(1, 21)}"),
    "slack-webhook": (("post to {}",), lambda rng: f"https://hooks.slack.com/services/T{_of(rng, UPPER, 10)}/B{_of(rng, UPPER, 10)}/{_of(rng, ALNUM, 24)}"),
    "jwt": (("token {} expires tomorrow", "Cookie: session={}", "id_token={}"), jwt),
    "private-key": (("{}", "the key:\n{}\nkeep it safe", "ssh:\n{}"), private_key),
    "card": (("card {} exp 04/29", "He paid with {}.", "\"pan\": \"{}\""), card),
    "iban": (("IBAN {} at the house bank", "please transfer to {}", "konto={}"), iban),
    "one-time-code": (("Your verification code is {}.", "OTP: {}", "{} is your Acme login code", "Ihr Bestätigungscode lautet {}", "код подтверждения: {}", "验证码：{}", "2FA code {}"), lambda rng: _of(rng, string.digits, 6)),
    "recovery-phrase": (("seed phrase: {}", "my recovery phrase is {}"), lambda rng: " ".join(rng.choice(WORDS) for _ in range(12))),
    "sql-password": (("CREATE USER app IDENTIFIED BY '{}';", "ALTER ROLE app WITH PASSWORD '{}';"), password),
    "netrc": (("machine git.internal login ci password {}",), lambda rng: _of(rng, ALNUM, 16)),
}  # fmt: skip


def _zero_width(rng: random.Random, value: str) -> str:
    place = rng.randint(2, len(value) - 2)
    return value[:place] + rng.choice("\u200b\u200d\u2060\u00ad\ufeff") + value[place:]


def _full_width(_rng: random.Random, value: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in value)


def _tags(_rng: random.Random, value: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in value)


def _broken(rng: random.Random, value: str) -> str:
    place = rng.randint(3, len(value) - 3)
    return value[:place] + rng.choice(("\n", "\n    ", "\r\n")) + value[place:]


def _base64(_rng: random.Random, value: str) -> str:
    return base64.b64encode(value.encode()).decode()


DISGUISES = {
    "zero-width": _zero_width, "full-width": _full_width, "tags": _tags, "line-break": _broken, "base64": _base64,
}  # fmt: skip
DISGUISED_SHARE = 0.2


def kinds() -> list[str]:
    """Return all kinds that can be planted."""
    return [*TOKENS, *SPOKEN]


def plant(rng: random.Random, kind: str, size: int) -> Planted:
    """Return an ordinary text with one secret of this kind in it."""
    disguise = ""
    if kind in TOKENS:
        bare = value = token(rng, kind)
        place = rng.choice(PLACES)
        if rng.random() < DISGUISED_SHARE:
            disguise = rng.choice(list(DISGUISES))
            value = DISGUISES[disguise](rng, bare)
            place = rng.choice(("The key {} is for the uploads.", "note: {}", "({})"))
    else:
        places, make = SPOKEN[kind]
        bare = value = make(rng)
        place = rng.choice(places)
    parts = ordinary.text(rng, size)
    parts.insert(rng.randint(0, len(parts)), place.format(value))
    return Planted(text="\n\n".join(parts), kind=kind, value=value, bare=bare, disguise=disguise)


def planted(seed: int, count: int, *, size_min: int = 1_000, size_max: int = 10_000) -> list[Planted]:
    """Return texts with one secret each, all kinds in turn."""
    rng = random.Random(seed)  # Repeatable on purpose.
    names = kinds()
    return [plant(rng, names[index % len(names)], rng.randint(size_min, size_max)) for index in range(count)]
