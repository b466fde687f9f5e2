"""Tokens that are known by their form: a fixed beginning and a body of a known alphabet."""

import re2

from memwarden_policy.redaction.checks import entropy, is_made_up
from memwarden_policy.redaction.model import Category, Lead, Match, Rule, Span

RANK = 10
CLOUD_RANK = 5
ENTROPY_MIN = 2.2  # Bits a byte; a sound token of ten letters has more than 2.5.


# kind, beginnings, what follows. A `{n}` body is exactly that long; `{n,}` at least.
_TOKENS: tuple[tuple[str, str, str], ...] = (
    ("memwarden-key", "mwk_", r"[\w-]{16,}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}"),
    ("github-token", "github_pat_", r"\w{30,}"),
    ("gitlab-token", "glpat- gldt- glrt- glptt- glft- glsoat- gloas- glimt- glagent- glffct- glcbt-", r"[\w.-]{16,}"),
    ("gitlab-token", "GR1348941", r"[\w-]{20,}"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-", r"[A-Za-z0-9%./-]{10,}"),
    ("slack-token", "xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10,}"),
    ("slack-webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", r"[\w/]{20,}"),
    ("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{16,20}/[\w-]{40,}"),
    ("teams-webhook", ".webhook.office.com/webhookb2/", r"[\w@-]{36,}/IncomingWebhook/\w{20,}/[\w-]{20,}"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{10,}"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    ("anthropic-key", "sk-ant-", r"[\w-]{20,}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-service-", r"[\w-]{20,}"),
    ("openrouter-key", "sk-or-v1-", r"[0-9a-f]{40,}"),
    ("langfuse-key", "sk-lf-", r"[0-9a-f-]{36}"),
    ("openai-key", "sk-", r"[A-Za-z0-9]{32,}"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    ("replicate-token", "r8_", r"\w{37}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    ("xai-key", "xai-", r"[A-Za-z0-9_]{60,}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    ("tavily-key", "tvly-", r"[\w-]{24,}"),
    ("pinecone-key", "pcsk_", r"\w{40,}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-AgE pypi-AgN", r"[\w-]{40,}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}"),
    ("crates-token", "cio", r"[A-Za-z0-9]{32}"),
    ("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    ("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,}"),
    ("artifactory-token", "cmVmdGtu", r"[A-Za-z0-9]{50,}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}"),
    ("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{30,}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}"),
    ("mailgun-key", "pubkey-", r"[0-9a-f]{32}"),
    ("mailersend-key", "mlsn.", r"[0-9a-f]{64}"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9A-Fa-f]{32}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,}"),
    ("square-token", "EAAA", r"[\w-]{60}"),
    ("paypal-token", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{16}\$[0-9a-f]{32}"),
    ("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,}"),
    ("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"[A-Za-z0-9]{12,}(?:-X)?"),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    ("facebook-token", "EAAC EAAG EAAD EAAB", r"[A-Za-z0-9]{80,}"),
    ("mapbox-token", "sk.eyJ", r"[\w-]{40,}\.[\w-]{20,}"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}"),
    ("figma-token", "figd_ figu_ figr_", r"[\w-]{40,}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian-token", "ATATT3xFf ATCTT3xFf ATBB", r"[\w=-]{28,}"),
    ("asana-token", "0/ 1/ 2/", r"\d{16}:[0-9a-f]{32}"),
    ("hubspot-token", "pat-na1- pat-eu1- pat-na2- pat-ap1-", r"[0-9A-Fa-f-]{36}"),
    ("typeform-token", "tfp_", r"[\w.=-]{40,}"),
    ("contentful-token", "CFPAT-", r"[\w-]{40,}"),
    ("frameio-token", "fio-u-", r"[\w=-]{60,}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}=*"),
    ("grafana-token", "eyJrIjoi", r"[A-Za-z0-9+/]{50,}=*"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,}"),
    ("terraform-token", ".atlasv1.", r"[\w=-]{60,}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("newrelic-key", "NRAK- NRAA- NRII- NRIQ- NRRA-", r"[\w-]{24,}"),
    ("newrelic-key", "NRJS-", r"[0-9a-f]{19}"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("sentry-token", "sntrys_ sntryu_ sntrya_", r"[\w+/=-]{40,}"),
    ("posthog-key", "phx_ phs_", r"\w{40,}"),
    ("sonarqube-token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    ("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    ("buildkite-token", "bkua_ bkct_ bkaj_", r"[A-Za-z0-9]{40,}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"\w{40,}"),
    ("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{40,}"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[A-Za-z0-9]{36}"),
    ("supabase-key", "sbp_ sb_secret_", r"[\w-]{24,}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{30,}"),
    ("heroku-key", "HRKU-", r"[\w-]{36,}"),
    ("fly-token", "fm1r_ fm2_ fm1a_ fo1_", r"[A-Za-z0-9+/=_,-]{40,}"),
    (
        "tailscale-key",
        "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-",
        r"[A-Za-z0-9]+-[A-Za-z0-9]{20,}",
    ),
    ("infracost-key", "ico-", r"[A-Za-z0-9]{32}"),
    ("adafruit-key", "aio_", r"[A-Za-z0-9]{28}"),
    ("duffel-token", "duffel_test_ duffel_live_", r"[\w=-]{43}"),
    ("onepassword-token", "ops_eyJ", r"[\w+/-]{100,}=*"),
    (
        "onepassword-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    ("okta-token", "SSWS", r"\s[\w-]{40,}"),
    ("launchdarkly-key", "sdk- mob- api-", r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7Lqpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}"),
    ("password-hash", "$2a$ $2b$ $2y$", r"\d{2}\$[./A-Za-z0-9]{53}"),
    (
        "password-hash",
        "$argon2id$ $argon2i$ $argon2d$",
        r"v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}",
    ),
    ("password-hash", "$5$ $6$", r"(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"),
)

_CLOUD: tuple[tuple[str, str, str], ...] = (
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{90,}=*"),
    ("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/]{40,}=*"),
    ("gcp-api-key", "AIza", r"[\w-]{35}"),
    ("gcp-oauth-secret", "GOCSPX-", r"[\w-]{28}"),
    ("gcp-oauth-token", "ya29.", r"[\w.-]{20,}"),
    ("gcp-refresh-token", "1//0", r"[\w-]{40,}"),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{16,24}"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{32}"),
    ("yandex-key", "AQVN", r"[\w-]{35,}"),
    ("yandex-token", "t1.9euel", r"[\w=.-]{60,}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("scaleway-key", "SCW", r"[A-Z0-9]{17}"),
)  # fmt: skip


def _sound(match: Match) -> Span | None:
    """Take a token unless it is made up or has no randomness."""
    body = match.group(1)
    if body is None or is_made_up(body) or entropy(body) < ENTROPY_MIN:
        return None
    return match.span()


def _rule(kind: str, beginnings: str, body: str, *, category: Category, rank: int) -> Rule:
    starts = beginnings.split()
    widest = sorted(starts, key=len, reverse=True)
    pattern = f"(?:{'|'.join(re2.escape(start) for start in widest)})({body})"
    return Rule(
        kind=kind,
        category=category,
        pattern=pattern,
        leads=tuple(Lead(re2.escape(start), len(start)) for start in starts),
        locate=_sound,
        apart=starts[0][0].isalnum(),
        closed=body.endswith("}") and not body.endswith(",}"),
        splits=min(len(start) for start in starts) >= 3,
        rank=rank,
    )


def token_rules() -> tuple[Rule, ...]:
    """Return the rules of all tokens with a form of their own."""
    plain = (_rule(*each, category=Category.CREDENTIAL, rank=RANK) for each in _TOKENS)
    cloud = (_rule(*each, category=Category.CLOUD, rank=CLOUD_RANK) for each in _CLOUD)
    return (*plain, *cloud, *_SHAPED)


def _lead(expression: str, width: int) -> tuple[Lead, ...]:
    return (Lead(expression, width),)


# Tokens whose fixed part is not at their beginning, or which have more structure than a beginning and a body.
_SHAPED: tuple[Rule, ...] = (
    Rule(
        kind="jwt",
        category=Category.CREDENTIAL,
        pattern=r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?|eyJ[\w-]{8,}\.[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}",
        leads=_lead("eyJ", 3),
        splits=True,
        reach=8_192,
        rank=RANK,
    ),
    Rule(
        kind="aws-secret-key",
        category=Category.CLOUD,
        pattern=r"(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9](?:[^A-Za-z0-9+/]|[A-Za-z0-9_]{1,32}[^A-Za-z0-9+/]){1,24}([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|$)",
        leads=_lead("A[KS]IA", 4),
        rank=CLOUD_RANK - 1,
    ),
    Rule(
        kind="azure-client-secret",
        category=Category.CLOUD,
        pattern=r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        leads=_lead("[A-Za-z0-9_~.-]{3}[78]Q~", 6),
        rank=CLOUD_RANK,
    ),
    Rule(
        kind="azure-devops-token",
        category=Category.CLOUD,
        pattern=r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
        leads=_lead("[A-Za-z0-9]{76}AZDO", 80),
        rank=CLOUD_RANK,
    ),
    Rule(
        kind="azure-storage-key",
        category=Category.CLOUD,
        pattern=r"(?:AccountKey|SharedAccessKey|accountKey)=([A-Za-z0-9+/]{40,88}={0,2})",
        leads=(Lead("AccountKey=", 11), Lead("SharedAccessKey=", 16), Lead("accountKey=", 11)),
        rank=CLOUD_RANK,
    ),
    Rule(
        kind="azure-sas-signature",
        category=Category.CLOUD,
        pattern=r"[?&]sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,}=?)",
        leads=_lead("[?&]sig=", 5),
        apart=False,
        rank=CLOUD_RANK,
    ),
    Rule(
        kind="mailchimp-key",
        category=Category.CREDENTIAL,
        pattern=r"[0-9a-f]{32}-us\d{1,2}",
        leads=_lead("[0-9a-f]{32}-us[0-9]", 36),
        rank=RANK,
    ),
    Rule(
        kind="discord-token",
        category=Category.CREDENTIAL,
        pattern=r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        leads=tuple(Lead(rf"[MNO][A-Za-z0-9_-]{{{size}}}\.[A-Za-z0-9_-]{{6}}\.", size + 9) for size in (23, 25)),
        rank=RANK,
    ),
    Rule(
        kind="firebase-key",
        category=Category.CLOUD,
        pattern=r"AAAA[\w-]{7}:APA91b[\w-]{100,}",
        leads=_lead("AAAA[A-Za-z0-9_-]{7}:APA91b", 18),
        rank=CLOUD_RANK,
    ),
    Rule(
        kind="telegram-token",
        category=Category.CREDENTIAL,
        pattern=r"[0-9]{8,10}:AA[\w-]{33}",
        leads=tuple(Lead(f"[0-9]{{{size}}}:AA", size + 3) for size in (8, 9, 10)),
        rank=RANK,
    ),
    Rule(
        kind="private-key",
        category=Category.PRIVATE_KEY,
        pattern=(
            r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?s:.{16,}?)-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:[A-Za-z0-9+/=\s:,-]|\\[nr]){16,})"
        ),
        leads=_lead("-----BEGIN ", 11),
        apart=False,
        reach=32_768,
        rank=0,
    ),
    Rule(
        kind="private-key",
        category=Category.PRIVATE_KEY,
        pattern=r"PuTTY-User-Key-File-\d: (?s:.{16,}?)Private-MAC: [0-9a-f]{16,}",
        leads=_lead("PuTTY-User-Key-File-", 20),
        reach=32_768,
        rank=0,
    ),
)
