"""Ordinary texts of an agent's day: notes, manuals, manifests, logs and code, with stand-ins where a secret would be."""

import random

SENTENCES = """
The customer prefers a call on Tuesday mornings and likes short answers.
Deployments to the staging cluster run every night at 02:30 UTC and take about nine minutes.
We decided to keep the billing exports for ninety days because the auditors asked for a full quarter.
Password: must be at least twelve characters and is checked against a list of leaked ones.
The password is stored as a hash and never shown again.
Reset your password from the account page if the link has expired.
A token is issued once per session and expires after one hour.
The API key is required for all write routes; ask the platform team for one.
The team agreed that retries use exponential backoff with jitter, at most five attempts.
Anna moved to the Vienna office in March and now leads the search team.
If the pod does not start, look at the events first and then at the previous container's log.
The secret is mounted as a file, so the process never sees it in its environment.
Keys are rotated every thirty days; the old key works for one more day.
Use the read replica for reports longer than a minute.
The order number 4711-2298-17 was shipped on 2026-03-14 with tracking code DHL 00340434292135100186.
Ticket 20418833 was closed after the vendor sent a patch for version 4.12.7.
The invoice total was 1,284.50 EUR, payable within 30 days.
The release notes mention commit 9fceb02d0ae598e95dc970b74767f19372d61af8 as the fix.
Image digest sha256:4b825dc642cb6eb9a060e54bf8d69288fbee4904e1d5b2c8f7a6039d1c5e8f24 was promoted on Monday.
The request id 3f2b8c1e-9d47-4a6b-8e15-7c0d2f9a6b34 shows the timeout in the gateway.
Please log in with your company account and open the dashboard.
Sign in with Google or with a passkey; there is no separate password.
Der Kunde möchte die Rechnung künftig per Post erhalten.
Das Passwort wird nie im Klartext gespeichert.
Клієнт просить дзвонити після шостої вечора.
Пароль должен содержать не менее двенадцати символов.
El cliente prefiere recibir las facturas por correo el primer lunes del mes.
La contraseña debe cambiarse cada noventa días.
客户希望在每周一收到报告。
お客様は平日の午前中の電話を希望しています。
고객은 매주 월요일에 보고서를 받기를 원합니다.
The error code is 40312 and means that the quota of the project was used up.
Port 8443 is for the admin API, 9090 for metrics.
In 2024 the code base had 182,000 lines; in 2026 it has 240,000.
The secret sauce of the recipe is a long, slow simmer.
She said the key to a good handover is a written list.
The basic plan includes three seats and email support.
Bearer tokens are passed in the Authorization header.
The connection string has the form postgres://user:password@host:5432/database.
Set the variable with export API_TOKEN=<your-token> before the first run.
Write to support@example.com or read the handbook.
The average latency fell from 48.2 ms to 31.7 ms after the index was added.
Coordinates 48.2081743, 16.3738189 mark the meeting point near the cathedral.
The build takes 12 minutes on main and 7 minutes on a branch.
We use feature flags named checkout-v2-rollout and search-rerank-2026-q1.
The certificate of the ingress was renewed and is valid until 2027-01-31.
The meeting moved to room B-204; the door code is posted at the reception.
Pass the token to the client when you create it, not later.
""".strip().splitlines()

BLOCKS = (
    "```yaml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db-credentials\ntype: Opaque\nstringData:\n  username: app\n  password: <your-password>\n```",
    "```yaml\nenv:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: db-credentials\n        key: password\n  - name: LOG_LEVEL\n    value: info\n```",
    "```bash\nexport DB_PASSWORD=${DB_PASSWORD:?set it}\nexport API_KEY=$(vault kv get -field=key secret/app)\n./deploy.sh --env staging --token \"$TOKEN\"\n```",
    "```python\npassword = os.environ[\"DB_PASSWORD\"]\napi_key = settings.api_key\nclient = Client(token=get_token(), timeout=30)\nsecret = config.get(\"secret\")\n```",
    "```json\n{\"user\": \"app\", \"password\": \"changeme\", \"api_key\": \"YOUR_API_KEY\", \"retries\": 3, \"token\": null}\n```",
    "```ini\n[database]\nhost = db.internal\nport = 5432\nuser = app\npassword = xxxxxxxx\nsslmode = require\n```",
    "```typescript\ninterface Login { username: string; password: string; token?: string }\nconst form = { password: form.value.password, rememberMe: true };\n```",
    "```sql\nCREATE USER app WITH PASSWORD '<password>';\nGRANT SELECT ON ALL TABLES IN SCHEMA public TO app;\n```",
    "```http\nGET /v1/orders?limit=50&cursor=eyJpZCI6NDJ9 HTTP/1.1\nAuthorization: Bearer <token>\nAccept: application/json\n```",
    "| setting | default | meaning |\n|---|---|---|\n| password | none | required; at least 12 characters |\n| token_ttl | 1h | how long a token lives |\n| secret_name | app-tls | where the certificate lies |",
    "2026-03-14T09:21:07.482913Z INFO request done path=/v1/memories status=201 ms=12 id=01957f3a-6b2c-7d4e-9f10-2a3b4c5d6e7f\n2026-03-14T09:21:08.113004Z WARN token expired user=anna retry=1",
    "```go\ntype Config struct {\n\tPassword string `yaml:\"password\"`\n\tToken    string `yaml:\"token\"`\n}\n// Secret: the name of the Secret, e.g. app-tls-2\n```",
    "```hcl\nvariable \"db_password\" {\n  type      = string\n  sensitive = true\n}\nresource \"aws_db_instance\" \"main\" { password = var.db_password }\n```",
    "```yaml\nauth:\n  existingSecret: redis-auth\n  secretKey: redis-password\n  password: \"\"\n  tokenReviewer: true\nimage:\n  tag: 4.12.7\n  pullSecrets: [registry-pull]\n```",
    "Placeholders used in this guide: AKIAIOSFODNN7EXAMPLE, ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, sk-your-key-here, {{ .Values.token }} and %API_KEY%.",
    "```dotenv\nSECRET_KEY=change-me\nJWT_SECRET=replace-with-a-long-random-string\nSTRIPE_KEY=sk_test_xxxxxxxxxxxxxxxx\nSENTRY_DSN=\n```",
    "Steps:\n1. Open the settings and choose Tokens.\n2. Press *Generate*, give it a name such as `ci-deploy`.\n3. Copy the token; it is shown once.\n4. Store it as `CI_TOKEN` in the pipeline's secrets.",
)  # fmt: skip

PARAGRAPH_SENTENCES_MAX = 6


def text(rng: random.Random, size: int) -> list[str]:
    """Return paragraphs of about this many characters together."""
    parts: list[str] = []
    total = 0
    while total < size:
        if rng.random() < 0.3:
            part = rng.choice(BLOCKS)
        else:
            part = " ".join(rng.choice(SENTENCES) for _ in range(rng.randint(1, PARAGRAPH_SENTENCES_MAX)))
        parts.append(part)
        total += len(part) + 2
    return parts


def clean(seed: int, count: int, *, size_min: int = 1_000, size_max: int = 10_000) -> list[str]:
    """Return ordinary texts."""
    rng = random.Random(seed)  # Repeatable on purpose.
    return ["\n\n".join(text(rng, rng.randint(size_min, size_max))) for _ in range(count)]
