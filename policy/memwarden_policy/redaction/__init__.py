"""Redaction: cuts credentials, payment data, one-time codes and, when asked, contact data out of what is written."""

from memwarden_policy.redaction.model import (
    Category,
    Redaction,
    RuleError,
    Sanitized,
    SanitizedValue,
    TextTooLongError,
    ValueTooDeepError,
    skips,
)
from memwarden_policy.redaction.registry import CustomRule, Registry
from memwarden_policy.redaction.sanitise import sanitize_server_write, sanitize_value

__all__ = [
    "Category",
    "CustomRule",
    "Redaction",
    "Registry",
    "RuleError",
    "Sanitized",
    "SanitizedValue",
    "TextTooLongError",
    "ValueTooDeepError",
    "sanitize_server_write",
    "sanitize_value",
    "skips",
]
