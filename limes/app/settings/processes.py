"""Our own sections: database, API, collector and logging."""

from typing import Literal

from pydantic import Field

from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import ConfigPath, ListenAddress, Section
from limes.web.settings import ServerSettings


class DatabaseSettings(Section):
    """Where the state lives."""

    url: str = "sqlite:///limes.db"
    """`sqlite:///file.db` or `postgresql://user@host:port/name`. Environment: `LIMES_DATABASE_URL`, or the original's
    `LIMES_DB_HOSTNAME`, `_PORT`, `_NAME`, `_USERNAME`, `_PASSWORD`, `_CONNECTION_OPTIONS`."""
    password: str | None = Field(default=None, repr=False)
    """Replaces the password of the URL. Environment: `LIMES_DB_PASSWORD`."""
    pool_size: int = Field(default=16, ge=1, le=1000)
    """Connections that each process may hold."""
    statement_timeout: Seconds = 30.0
    """PostgreSQL gives up on a statement after this time."""
    lock_timeout: Seconds = 10.0
    """PostgreSQL gives up on a lock after this time. A transaction that does nothing for 8 seconds, because its host is
    frozen, is ended and holds its locks no longer."""
    pooler: Literal["auto", "none", "transaction"] = "auto"
    """Whether a connection pooler such as PgBouncer is in front of PostgreSQL. `transaction`: there is one, so that
    nothing may outlive a transaction, and the timeouts are sent with each. `none`: there is none. `auto`: each new
    connection finds out, with one short query."""
    read_urls: tuple[str, ...] = ()
    """Hot standbys that may answer GET requests, one server each, with the same password. The two APIs use them; the
    collector does not. PostgreSQL only."""
    max_replica_lag: Seconds = 5.0
    """What a standby shows is at most this old; otherwise the primary answers."""


class CorsSettings(Section):
    """Which pages of other origins may use the API from a browser."""

    allowed_origins: tuple[str, ...] = ("*",)
    """Origins, or `*` for any. An empty list switches CORS off."""


class ApiSettings(ServerSettings):
    """The Limes Resource API."""

    listen: ListenAddress = "127.0.0.1:8080"
    """Environment: `LIMES_API_LISTEN_ADDRESS`."""
    policy_file: ConfigPath | None = None
    """Overrides of the shipped policy rules. Environment: `LIMES_API_POLICY_PATH`."""
    cors: CorsSettings = CorsSettings()
    max_body_size: int = Field(default=1024 * 1024, ge=1024)
    """Bytes. Larger request bodies are answered with 413."""
    backend_timeout: Seconds = 15.0
    """How long a backend may take over one request while a client waits for our answer. After that the collector
    writes the quota."""


class LiquidSettings(ServerSettings):
    """The LIQUID protocol for one of the services: `limes liquid SERVICE_TYPE`."""

    listen: ListenAddress = "127.0.0.1:8083"
    """One process serves one service, so each further one needs another address: `--listen` of the command."""
    policy_file: ConfigPath | None = None
    """Overrides of the shipped policy rules."""
    version_folder: ConfigPath | None = None
    """Where each service's description is kept, in a file of its own, so that its `version` grows by one with each
    change. Without, the version differs whenever the description does, but does not grow."""
    workers: int = Field(default=1, ge=1, le=256)


class DataMetricsSettings(Section):
    """Capacity, quota, usage and commitments as metrics, on the collector's `/metrics`."""

    expose: bool = False
    """Whether they are there. On one collector only, or each series is there several times; with several collectors,
    run `limes metrics` instead. Environment:
    `LIMES_COLLECTOR_DATA_METRICS_EXPOSE`."""
    skip_zero: bool = False
    """Leaves out figures of projects that are zero. Environment: `LIMES_COLLECTOR_DATA_METRICS_SKIP_ZERO`."""


class MetricsSettings(Section):
    """`limes metrics`: a process of its own for the figures of the cloud, whatever happens to collectors."""

    listen: ListenAddress = "127.0.0.1:8084"
    """Its `/metrics` and `/healthcheck`."""
    projects: bool = True
    """Whether there are figures of single projects, which are nearly all series of a large cloud. The sums over domains
    and over the cloud are always there, and enough for the recording rules. The same for a collector with
    `data_metrics.expose`, and so is `max_age`."""
    skip_zero: bool = False
    """Leaves out figures of projects that are zero."""
    max_age: SecondsOrZero = 15.0
    """Maximum age of the figures: scrapes within this time share one reading of the database."""


class CircuitBreakerSettings(Section):
    """When a backend that does not answer is left alone, by each process for itself."""

    failures: int = Field(default=5, ge=1)
    """Stop calling the backend after this many consecutive calls without an answer."""
    pause: Seconds = 30.0
    """How long it is left alone. Then a single call tries; each one without an answer doubles the pause."""
    pause_max: Seconds = 300.0
    """The longest pause."""


class CollectorSettings(Section):
    """The background work. The defaults are the original's."""

    listen: ListenAddress = "127.0.0.1:8081"
    """The collector's `/metrics` and `/healthcheck`. Environment: `LIMES_COLLECTOR_METRICS_LISTEN_ADDRESS`."""
    authoritative: bool = True
    """Whether a backend quota that differs is corrected. When false, it is only reported, until a sync is requested
    or the quota is set. Environment: `LIMES_AUTHORITATIVE`."""
    scrape_interval: Seconds = 1800.0
    """Time between two scrapes of a service in a project."""
    scrape_retry: Seconds = 300.0
    """The same after a failed scrape; it doubles with each further failure, up to `scrape_retry_max`."""
    scrape_retry_max: Seconds = 1800.0
    """Longest pause after failed scrapes of one service in one project."""
    capacity_interval: Seconds = 900.0
    """Time between two scrapes of a capacitor."""
    capacity_retry: Seconds = 180.0
    """The same after a failed scrape."""
    capacity_drop_percent: int = Field(default=30, ge=0, le=100)
    """By how many percent the capacity of a resource may become less in an availability zone with one scrape. More, and
    what is missing altogether, waits for the next scrape; meanwhile there is an alert."""
    discovery_interval: Seconds = 180.0
    """How often to look for new and deleted domains and projects."""
    consistency_interval: Seconds = 3600.0
    """Time between two runs of the consistency job."""
    commitment_interval: Seconds = 30.0
    """How often to look for commitments that expire or wait for capacity."""
    commitment_use_interval: Seconds = 3600.0
    """How often to record how much of their commitments projects use."""
    temporary_quota_interval: Seconds = 15.0
    """How often to look for temporary quotas that begin or end."""
    temporary_quota_retry: Seconds = 300.0
    """Pause after one could not begin, or not be given back completely."""
    push_retry: Seconds = 30.0
    """First pause after a backend quota could not be written; it doubles up to `push_retry_max`."""
    push_retry_max: Seconds = 900.0
    """Longest pause between two tries to write a backend quota."""
    poll_interval: Seconds = 3.0
    """How often the collector looks for work that is due."""
    lease: Seconds = 300.0
    """How long a claimed task belongs to the collector that claimed it; then another one may take it."""
    threads: int = Field(default=8, ge=1, le=256)
    """Tasks that one collector works on at the same time, shared evenly by the services that set no `threads`."""
    batch: int = Field(default=50, ge=1, le=1000)
    """The most tasks of one service that a collector claims in one go, while its backend is fast."""
    max_clock_skew: Seconds = 30.0
    """A collector whose clock differs by more from the database's begins nothing until they agree (PostgreSQL)."""
    stale_after: Seconds = 7200.0
    """Figures that are older than this are marked as stale: in reports, in metrics, and by `limes status`."""
    service_grace: SecondsOrZero = 30 * 86400.0
    """How long quotas and commitments of a service are kept after it has left the configuration, and come back with it.
    0: they are deleted when the next collector starts, unless commitments hold."""
    data_metrics: DataMetricsSettings = DataMetricsSettings()


class LoggingSettings(Section):
    """How all processes log, on standard error."""

    style: Literal["plain", "json"] = "plain"
    """Lines for people, or one JSON object a line."""
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Environment: `LIMES_LOG_LEVEL`; `LIMES_DEBUG=true` means DEBUG."""


class ServeSettings(Section):
    """What only `limes serve` looks at."""

    sample_data: ConfigPath | None = None
    """Providers, inventories and allocations (YAML) that an empty Placement database is filled with."""
