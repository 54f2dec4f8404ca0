"""The audit: where an event about each change is sent."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import ConfigPath, Section


class AuditLogSettings(Section):
    """The sink `log`: one JSON object a line."""

    path: ConfigPath | None = None
    """The file, which the collectors append to; null means their standard output. It may be moved away at any time."""


class RabbitMQSettings(Section):
    """The sink `rabbitmq`: persistent messages in one queue of the default exchange."""

    url: str = Field(default="amqp://guest@localhost:5672/", pattern=r"^amqps?://[^/]+(/[^/]*)?$", repr=False)
    """`amqp://user@host:port/virtual-host`, or `amqps://` for TLS. Environment: `LIMES_AUDIT_RABBITMQ_URL`, or the
    original's `LIMES_AUDIT_RABBITMQ_HOSTNAME`, `_PORT`, `_USERNAME`."""
    password: str | None = Field(default=None, repr=False)
    """Replaces the password of the URL. Environment: `LIMES_AUDIT_RABBITMQ_PASSWORD`."""
    queue_name: str = Field(default="limes.audit", min_length=1, max_length=255)
    """Made as a durable queue if it does not exist. Environment: `LIMES_AUDIT_QUEUE_NAME`."""
    cacert: ConfigPath | None = None
    """A file with the certificates that the broker's is signed by, for `amqps://`; null means the system's."""
    timeout: Seconds = 10.0
    """How long the broker may take to answer, or to confirm a message."""


SinkName = Literal["log", "rabbitmq"]


def as_list(value: Any) -> Any:
    """Accepts one name, or `none`, instead of a list."""
    if value in (None, "none", ["none"]):
        return ()
    return (value,) if isinstance(value, str) else value


class AuditSettings(Section):
    """Where events go to, and how long things are kept."""

    sinks: Annotated[tuple[SinkName, ...], BeforeValidator(as_list)] = ()
    """`log`, `rabbitmq`, or a list of both; `none` or an empty list: events are not written, only the history.
    Environment: `LIMES_AUDIT_ENABLE`; true means `rabbitmq`, false means `none`."""
    log: AuditLogSettings = AuditLogSettings()
    rabbitmq: RabbitMQSettings = RabbitMQSettings()
    interval: Seconds = 5.0
    """How often to look for events to deliver."""
    retry: Seconds = 10.0
    """First pause after a sink did not answer or refused an event; it doubles up to `retry_max`."""
    retry_max: Seconds = 600.0
    """Longest pause between two tries."""
    delivered_retention: Seconds = 7 * 86400.0
    """How long events are kept after their delivery."""
    history_retention: Seconds = 5 * 365 * 86400.0
    """How long the history of quotas is kept."""

    @model_validator(mode="after")
    def _each_sink_once(self) -> "AuditSettings":
        if len(set(self.sinks)) < len(self.sinks):
            raise ValueError("a sink is given twice")
        return self
