"""Takes credentials out of label and annotation values before they are stored or leave the cluster.

The port is one function from text to text. The pattern here knows the common shapes; the full engine takes its place in
`redactor` without another line changing.
"""

import re
from collections.abc import Callable

Redactor = Callable[[str], str]
MARK = "[redacted]"

_CREDENTIALS = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8192}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|\beyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,1024}"  # JSON Web Tokens.
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|mwk_|syt_|hf_)[A-Za-z0-9_-]{16,255}"
)
_NAMED = re.compile(  # The name stays, so that a person can tell what was there.
    r"(?i)\b((?:[a-z0-9]{1,32}[_-])?(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|authorization)"
    r"[\"']?\s{0,3}[=:]\s{0,3}(?:bearer\s{1,3}|basic\s{1,3})?[\"']?)([^\s\"',;&}]{6,1024})"
)
_BEARER = re.compile(r"(?i)\b(bearer\s{1,3})([a-z0-9._~+/=-]{16,4096})")
_IN_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,128}:)([^\s:/@]{1,256})(@)")


def _known_shapes(text: str) -> str:
    text = _CREDENTIALS.sub(MARK, text)
    text = _IN_URL.sub(rf"\1{MARK}\3", text)
    text = _BEARER.sub(rf"\1{MARK}", text)
    return _NAMED.sub(lambda found: found[0] if found[2].startswith(MARK) else found[1] + MARK, text)


def redactor() -> Redactor:
    """Return what every value goes through."""
    return _known_shapes
