"""Logs as one JSON object a line. Documents, tokens and answers are never logged, only their names."""

import json
import logging
import sys
from datetime import UTC, datetime

EXTRAS = ("key", "store", "error", "address", "count", "seconds", "reason")
TEXT_LENGTH_MAX = 2000
# kopf tells of each handler that ran, and aiohttp of each request.
QUIET = ("kopf", "aiohttp", "httpx2", "httpcore2", "asyncio")


class JsonFormatter(logging.Formatter):
    """Renders a record; what is not known by name is left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:TEXT_LENGTH_MAX],
        }
        line |= {name: vars(record)[name] for name in EXTRAS if name in vars(record)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)[-TEXT_LENGTH_MAX:]
        return json.dumps(line, default=str)


def set_up() -> None:
    """Send every log to standard output as JSON."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
