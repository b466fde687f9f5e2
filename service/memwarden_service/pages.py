"""Cursors: opaque, signed, and bound to the list they were given for."""

import base64
import hmac
from dataclasses import dataclass, field

from memwarden_service.digests import keyed
from memwarden_service.problems import Fault, Kind, ProblemError

SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursors:
    """Makes and reads the cursors of one list: of one route, workspace, caller and filter."""

    hash_key: bytes = field(repr=False)
    of: tuple[str, ...]

    def after(self, last: str) -> str:
        """Return the cursor of what follows `last`."""
        return base64.urlsafe_b64encode(self._signature(last) + last.encode()).decode().rstrip("=")

    def last(self, cursor: str | None) -> str | None:
        """Return the last item that was shown; None: the list begins. Raises ProblemError for a foreign cursor."""
        if cursor is None:
            return None
        try:
            data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            last = data[SIGNATURE_BYTES:].decode()
        except ValueError:
            raise _foreign() from None
        if not hmac.compare_digest(data[:SIGNATURE_BYTES], self._signature(last)):
            raise _foreign()
        return last

    def _signature(self, last: str) -> bytes:
        return keyed(self.hash_key, "cursor", *self.of, last)[:SIGNATURE_BYTES]


def _foreign() -> ProblemError:
    return ProblemError(Kind.INVALID, faults=[Fault("query.cursor", "ForeignCursor", "was not given for this list")])
