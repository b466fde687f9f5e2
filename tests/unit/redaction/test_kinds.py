"""Each kind by example: what is cut, and the look-alikes that stay."""

import base64

import pytest

from memwarden_policy.redaction import Category, sanitize_server_write

HEX32 = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
GITHUB = "ghp_q8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTe"
KEY_BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 3)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----"

CUT = [
    # text, what must be gone, kind
    ("password: hunter2", "hunter2", "password"),
    ('{"password":"correct horse 7"}', "correct horse 7", "password"),
    ("DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor&3", "password"),
    ("Server=db;User=app;Password=S3cr3t!x;Timeout=3", "S3cr3t!x", "password"),
    ("<password>S3cr3t!x</password>", "S3cr3t!x", "password"),
    ("define('DB_PASSWORD', 'S3cr3t!x');", "S3cr3t!x", "password"),
    ("run it with --password S3cr3t!x now", "S3cr3t!x", "password"),
    ("curl -u admin:S3cr3t!x https://api.internal", "S3cr3t!x", "password"),
    ("- name: DB_PASSWORD\n  value: S3cr3tx9", "S3cr3tx9", "password"),
    ("my password is Blue-Kangaroo-42.", "Blue-Kangaroo-42", "password"),
    ("Mein Passwort lautet Sonne!2024", "Sonne!2024", "password"),
    ("мій пароль Kvartal77", "Kvartal77", "password"),
    ("мой пароль: Kvartal77", "Kvartal77", "password"),
    ("mi contraseña es Girasol99", "Girasol99", "password"),
    ("我的密码是Feniks2024", "Feniks2024", "password"),
    ("パスワードは Sakura88!", "Sakura88!", "password"),
    ("비밀번호는 Hangang77", "Hangang77", "password"),
    ("log in with admin / S3cret!9", "S3cret!9", "password"),
    (f"api_key = '{HEX32}'", HEX32, "api-key"),
    (f"X-Api-Key: {HEX32}", HEX32, "api-key"),
    (f"client_secret={HEX32}", HEX32, "secret"),
    ("Authorization: Bearer abcDEF123456ghiJKL789", "abcDEF123456ghiJKL789", "bearer-token"),
    ("Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg", "basic-auth"),
    ("postgres://app:s3cr3tP4ss@db.internal:5432/app", "s3cr3tP4ss", "url-password"),
    (f"https://x.io/cb?access_token={HEX32}&state=1", HEX32, "url-secret"),
    ("id eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ", "eyJzdWIiOiI0MiJ9", "jwt"),
    (f"before\n{PEM}\nafter", "MIIEvQ", "private-key"),
    (f"cut off: {PEM[:150]}", "MIIEvQ", "private-key"),
    (f'{{"private_key": "{PEM}"}}'.replace("\n", "\\n"), "MIIEvQ", "private-key"),
    ("AKIAZ3MGH7QPLW2NKTRB", "AKIAZ3MGH7QPLW2NKTRB", "aws-access-key"),
    ("aws_secret_access_key = aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b", "aB3dE5fG7hI9", "aws-secret-key"),
    ("key AIzaSyB7nX2mQ9vL4kW8pR1tZ6cY3dF5gH0jK_a", "AIzaSyB7nX2", "gcp-api-key"),
    ("AccountKey=" + "Kq8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTe" * 2 + "aBcDeFgHiJ==", "Kq8Zr3Lk2", "azure-storage-key"),
    (GITHUB, GITHUB, "github-token"),
    ("glpat-x7Kq2mZ9vL4pW8rT1cYd", "glpat-x7Kq", "gitlab-token"),
    ("xoxb-482913746512-918273645546-aB3dE5fG7hI9jK1lM3nO5pQ7", "xoxb-4829", "slack-token"),
    ("sk_live_4eC9HqLyjWDarjtT1zdp7dcQ", "sk_live_4eC9", "stripe-key"),
    ("sk-proj-q8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTe", "sk-proj-q8Z", "openai-key"),
    ("sk-ant-api03-q8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj", "sk-ant-api03", "anthropic-key"),
    ("npm_q8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTe", "npm_q8Zr", "npm-token"),
    ("pypi-AgEIcHlwaS5vcmcCJGQ4ZTdmNmE1LTRiM2MtMmQxZS05Zjh", "pypi-AgEI", "pypi-token"),
    (f"SK{HEX32}", f"SK{HEX32}", "twilio-key"),
    ("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", "SG.q8Zr", "sendgrid-key"),
    ("mwk_q8Zr3Lk2Vw_9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTeq8Zr3Lk2Vw9Xt5", "mwk_q8Zr", "memwarden-key"),
    ("card 4539 1488 0343 6467 exp 04/29", "4539 1488 0343 6467", "payment-card"),
    ("IBAN DE89 3704 0044 0532 0130 00 please", "0532 0130", "iban"),
    ("Your verification code is 482913", "482913", "one-time-code"),
    ("482 913 is your Acme code", "482 913", "one-time-code"),
    ("my seed phrase is " + "copper maple tiger harbor violet meadow falcon ember cobalt willow granite fern", "tiger", "recovery-phrase"),
    (base64.b64encode(f"token {GITHUB} of the build".encode()).decode(), "Z2hwX3E4", "github-token"),
]  # fmt: skip

STAYS = [
    "Password: must be at least twelve characters",
    "The password is stored as a hash and never shown again.",
    "Your password is incorrect. Reset your password from the account page.",
    "password: ${DB_PASSWORD}",
    "password: <your-password>",
    "password: {{ .Values.password }}",
    "password: xxxxxxxx",
    "PASSWORD=$(cat /run/secrets/db)",
    'password = os.environ["DB_PASSWORD"]',
    "password = settings.database_password",
    "api_key: YOUR_API_KEY",
    "token: string",
    "secretName: app-tls-2",
    "secret: app-tls",
    "Authorization: Bearer <token>",
    "postgres://user:password@localhost/db",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id 3f2b8c1e-9d47-4a6b-8e15-7c0d2f9a6b34",
    "card 4539 1488 0343 6468",  # the check digit does not hold
    "DE89 3704 0044 0532 0130 01",  # nor here
    "order 4711-2298-17, tracking 00340434292135100186",
    "The code base had 182,000 lines in 2024.",
    "The basic plan includes three seats.",
    "write to jane.doe@corp.io or call +49 170 1234567",  # contact data only when asked
]


@pytest.mark.parametrize(("text", "gone", "kind"), CUT, ids=[f"{kind}: {text[:24]!r}" for text, _, kind in CUT])
def test_is_cut(text, gone, kind):
    done = sanitize_server_write(text)
    assert gone not in done.text
    assert f"[REDACTED:{kind}]" in done.text
    assert kind in {each.kind for each in done.redactions}


@pytest.mark.parametrize("text", STAYS)
def test_stays(text):
    done = sanitize_server_write(text)
    assert done.text == text
    assert not done.applied


def test_the_text_around_a_cut_stays_as_it_was():
    done = sanitize_server_write(f"Use `{GITHUB}` until Friday, then ask Anna.")
    assert done.text == "Use `[REDACTED:github-token]` until Friday, then ask Anna."


def test_a_whole_key_block_is_cut():
    assert sanitize_server_write(f"a\n{PEM}\nb").text == "a\n[REDACTED:private-key]\nb"


@pytest.mark.parametrize("text", [PEM, "AKIAZ3MGH7QPLW2NKTRB", "AIzaSyB7nX2mQ9vL4kW8pR1tZ6cY3dF5gH0jK_a"])
def test_private_keys_and_cloud_secrets_skip_the_candidate(text):
    assert sanitize_server_write(f"note: {text}").skip


@pytest.mark.parametrize("text", [GITHUB, "password: hunter2", "card 4539148803436467"])
def test_other_kinds_do_not_skip_it(text):
    done = sanitize_server_write(f"note: {text}")
    assert done.applied
    assert not done.skip


def test_a_one_time_code_is_flagged():
    done = sanitize_server_write("OTP: 482913")
    assert done.has_one_time_code
    assert done.redactions[0].category is Category.ONE_TIME_CODE
    assert not sanitize_server_write("password: hunter2").has_one_time_code


def test_contact_data_is_cut_when_asked():
    text = "Write to jane.doe@corp.io or call +49 170 1234567; docs at help@example.com."
    done = sanitize_server_write(text, redact_contact_pii=True)
    assert done.text == "Write to [REDACTED:email] or call [REDACTED:phone]; docs at help@example.com."
