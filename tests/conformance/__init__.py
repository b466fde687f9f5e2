"""The expression engine against the public CEL conformance cases, which are fetched when the suite runs."""
