"""Log lines as JSON, without content: of an exception its type and where it was, never its words."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType

FRAMES_MAX = 20
OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, and what the caller added."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": str(record.msg),
            **{name: value for name, value in vars(record).items() if name not in OWN},
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = _types(record.exc_info[1])
            line["at"] = _frames(record.exc_info[2])
        return json.dumps(line, default=str)


def start(level: int = logging.INFO) -> None:
    """Send every logger of the process to standard output."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def _types(error: BaseException | None) -> list[str]:
    """Return the types along the chain of causes."""
    found: list[str] = []
    while error is not None and len(found) < FRAMES_MAX:
        found.append(type(error).__name__)
        error = error.__cause__ or error.__context__
    return found


def _frames(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-FRAMES_MAX:]
    return [f"{frame.filename}:{frame.lineno}:{frame.name}" for frame in frames]
