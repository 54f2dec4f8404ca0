"""The Placement API's section of the configuration."""

from typing import Annotated

from pydantic import AfterValidator, Field

from limes.kernel.validation.durations import Seconds, WholeSeconds
from limes.kernel.validation.sections import ConfigPath, ListenAddress, Section
from limes.web.settings import ServerSettings


def _prefix(value: str) -> str:
    if value and (not value.startswith("/") or value.endswith("/")):
        raise ValueError("expected a path that begins with '/' and does not end with one, such as /placement")
    return value


class PlacementCorsSettings(Section):
    """Which pages of other origins may use the Placement API from a browser."""

    allowed_origin: tuple[str, ...] = ()
    """Origins, or `*` for any. Empty switches CORS off, and OPTIONS is then answered with 405."""
    allow_headers: tuple[str, ...] = ("X-Auth-Token", "OpenStack-API-Version", "X-OpenStack-Request-ID")
    """Request headers that such a page may send, beyond the simple ones."""
    allow_methods: tuple[str, ...] = ("GET", "PUT", "POST", "DELETE")
    """Methods that such a page may use."""
    expose_headers: tuple[str, ...] = ("OpenStack-API-Version", "X-OpenStack-Request-ID", "Location")
    """Response headers that such a page may read, beyond the simple ones."""
    max_age: WholeSeconds = 3600
    """For how long a browser may remember the answer to its preflight."""


class PlacementBounds(Section):
    """How much one request may ask for. Beyond them the answer is 400 (413 for a body, 414 for a query string)."""

    max_body_size: int = Field(default=10 * 1024 * 1024, ge=1024)
    """Bytes of a request body."""
    max_query_size: int = Field(default=64 * 1024, ge=256)
    """Bytes of a query string."""
    max_items: int = Field(default=1000, ge=10)
    """Entries of one list in a body: traits, aggregates."""
    max_keys: int = Field(default=5000, ge=10)
    """Entries of one object in a body: consumers, providers, resource classes."""
    max_values: int = Field(default=100_000, ge=100)
    """Entries of all lists and objects in a body together."""
    max_groups: int = Field(default=100, ge=1)
    """Request groups of one query for candidates."""
    max_traits: int = Field(default=1000, ge=1)
    """Traits that one query may name."""
    max_aggregates: int = Field(default=1000, ge=1)
    """Aggregates that one query may name."""
    max_candidates: int = Field(default=100_000, ge=1000)
    """Candidates that are generated for one query before the search stops, with a log line. Fewer for queries for more
    than ten amounts of resources, so that an answer's size is bounded as well."""
    search_seconds: Seconds = Field(default=10, ge=0.1, le=600)
    """After this time a search for candidates stops, with a log line. What was found until then is the answer, with
    the header `X-Limes-Incomplete`; if nothing was found, the answer is 503."""
    max_usage_groups: int = Field(default=100_000, ge=100)
    """Groups in one answer of `GET /usage_groups`."""


class PlacementSettings(ServerSettings):
    """The Placement API."""

    listen: ListenAddress = "127.0.0.1:8778"
    """Environment: `LIMES_PLACEMENT_LISTEN_ADDRESS`."""
    database_url: str | None = None
    """The database, if it is not the one of the section `database`. Environment: `LIMES_PLACEMENT_DATABASE_URL`."""
    read_urls: tuple[str, ...] = ()
    """Hot standbys of `placement.database_url`. Without that one, those of `database.read_urls` are used."""
    prefix: Annotated[str, AfterValidator(_prefix)] = ""
    """The path below which the API is mounted, such as `/placement`. Requests with and without it are understood, and
    links begin with it."""
    policy_file: ConfigPath | None = None
    """Overrides of the shipped policy rules, in oslo.policy's YAML form."""
    enforce_new_defaults: bool = True
    """Which defaults the rules have that no file overrides: the newer ones (roles `admin` and `service`; the reshaper
    for `service` alone), or the older ones, where the role `admin` may do everything."""
    allow_remote_noauth: bool = False
    """Whether the `noauth` authentication, which trusts everybody, may listen where others can reach it."""
    incomplete_consumer_project_id: str = Field(
        default="00000000-0000-0000-0000-000000000000", min_length=1, max_length=255
    )
    """The project of consumers that are written below microversion 1.8."""
    incomplete_consumer_user_id: str = Field(
        default="00000000-0000-0000-0000-000000000000", min_length=1, max_length=255
    )
    """The user of consumers that are written below microversion 1.8."""
    randomize_allocation_candidates: bool = False
    """Whether candidates come in random order, so that clients that take the first one spread their load."""
    cors: PlacementCorsSettings = PlacementCorsSettings()
    bounds: PlacementBounds = PlacementBounds()
