"""Log set-up: plain or JSON lines on standard error, each with the id of the request that it belongs to."""

import contextvars
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Literal

import orjson

from limes.kernel.redaction import redact

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")
"""The id of the request (`req-` and a UUID) or of the job that this thread works on."""

Style = Literal["plain", "json"]
_PLAIN = "%(asctime)s %(levelname)-7s [%(request_id)s] %(name)s: %(message)s"
_CHATTY = ("apscheduler", "urllib3", "keystoneauth", "keystonemiddleware", "oslo_policy", "peewee", "stevedore")
"""They speak at INFO about each single run or connection, or at DEBUG about tokens."""
_CONTROLS = [*range(32), *range(127, 160), 0x2028, 0x2029]
_ESCAPES = {code: ascii(chr(code))[1:-1] for code in _CONTROLS}
"""Control characters and line separators, as Python writes them."""


def _add_request_id(record: logging.LogRecord) -> bool:
    record.request_id = request_id.get()
    return True


class _PlainFormatter(logging.Formatter):
    """One line a message, whatever is in it: a path that a client made up must not look like a line of ours."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = record.message.translate(_ESCAPES)
        return super().formatMessage(record)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": redact(record.getMessage()),
            "process": record.process,
        }
        if record.exc_info:
            document["exception"] = redact(self.formatException(record.exc_info))
        return orjson.dumps(document).decode()


def formatter(style: Style = "plain") -> logging.Formatter:
    return _JsonFormatter() if style == "json" else _PlainFormatter(_PLAIN, defaults={"request_id": "-"})


def gunicorn_logger(style: Style) -> type:
    """Returns a logger class for gunicorn whose own messages look like ours, and reveal no secrets either."""
    from gunicorn.glogging import Logger

    class GunicornLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
        def setup(self, cfg: Any) -> None:
            super().setup(cfg)
            for handler in self.error_log.handlers:
                handler.setFormatter(formatter(style))

    return GunicornLogger


def protect() -> None:
    """Has what is logged before `set_up`, or without it, lose its secrets too: libraries warn of requests that they
    repeat, with the whole URL. Such lines have their text only."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_PlainFormatter("%(message)s"))


def set_up(style: Style = "plain", level: str = "INFO") -> None:
    """Sends all logs of this process to standard error in the given style. Replaces what was set up before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_add_request_id)
    handler.setFormatter(formatter(style))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # it logs, with stack traces, what it raises as well, and we say that in one line
    logging.getLogger("pika").setLevel(logging.CRITICAL)
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLevelName(level)))
