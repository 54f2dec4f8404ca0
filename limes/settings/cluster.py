"""What there is to manage, under the key names of the original's configuration file."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, StringConstraints, field_validator, model_validator

from limes.settings.base import Name, Regex, Section
from limes.validation.durations import Seconds, SecondsOrZero


class DiscoverySettings(Section):
    """Where domains and projects come from."""

    method: str = "list"
    """`list` asks Keystone; `static` takes them from `params`; a plugin may offer more."""
    except_domains: Regex | None = None
    """Domains whose name matches (anywhere) are left out, even if `only_domains` matches too."""
    only_domains: Regex | None = None
    """Only domains whose name matches (anywhere) are taken."""
    params: dict[str, Any] = Field(default_factory=dict)
    """What the method needs; see the plugin."""


class RateLimitSettings(Section):
    """A rate limit that the service is known to apply. Accepted from the original's files; the API does not show it."""

    name: str
    """The rate's name."""
    unit: str = ""
    """The unit, for measured rates."""
    limit: int = Field(ge=0)
    """How much is allowed in a window."""
    window: str
    """The window's length, such as `1s`."""


class RateLimitsSettings(Section):
    """Rate limits of a service."""

    global_: tuple[RateLimitSettings, ...] = Field(default=(), alias="global")
    project_default: tuple[RateLimitSettings, ...] = ()


class ServiceSettings(Section):
    """A service whose quota is managed, and the backend plugin that knows how."""

    service_type: Name
    """The name that clients see, such as `compute`."""
    type: str
    """The name of the backend plugin."""
    params: dict[str, Any] = Field(default_factory=dict)
    """What the plugin needs; see the plugin."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Tasks of this service that one collector works on at the same time. Not given: its share of
    `collector.threads`."""
    rate_limits: RateLimitsSettings = RateLimitsSettings()


class CapacitorSettings(Section):
    """A source of capacity figures."""

    id: Name
    """A name for metrics and logs."""
    type: str
    """The name of the backend plugin."""
    params: dict[str, Any] = Field(default_factory=dict)
    """What the plugin needs; see the plugin."""


class LowPrivLimitSettings(Section):
    """How far users with only the low-privilege permission may raise quota: service -> resource -> limit."""

    projects: dict[str, dict[str, str | int]] = Field(default_factory=dict)
    """For project quotas: service -> resource -> `10`, `10 GiB` or `5% of cluster capacity`."""
    domains: dict[str, dict[str, str | int]] = Field(default_factory=dict)
    """For domain quotas: the same, or `until 80% of cluster capacity is assigned`."""


class LowPrivRaiseSettings(Section):
    """Low-privilege quota raises."""

    limits: LowPrivLimitSettings = LowPrivLimitSettings()
    except_projects_in_domains: Regex | None = None
    """No low-privilege raises in projects of domains whose name matches (anywhere)."""
    only_projects_in_domains: Regex | None = None
    """Low-privilege raises only in projects of domains whose name matches (anywhere)."""


class BurstingSettings(Section):
    """Quota bursting; on if the multiplier is above zero."""

    max_multiplier: float = Field(default=0, ge=0, le=1000)
    """By how much usage may exceed the quota: 0.2 allows 20 percent more. 0 switches bursting off."""


class BehaviorSettings(Section):
    """How the resources that match behave. Of several matches, the smallest burst multiplier counts, the last
    overcommit factor and scaling, the largest minimum quota, all durations, the latest date, and the last value of each
    annotation; commitments are for one availability zone if any match says so."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    scope: Regex | None = None
    """Matches the whole of a domain's name or of `domain/project`. Ignored on the cluster's level."""
    max_burst_multiplier: float | None = Field(default=None, ge=0)
    """The most that these resources may burst; the smallest match counts."""
    overcommit_factor: float = Field(default=0, ge=0)
    """What raw capacity is multiplied by. 0: no overcommit."""
    scales_with: str | None = Field(default=None, pattern=r"^[^/]+/[^/]+$")
    """`service/resource` whose quota this one should follow. A hint for user interfaces."""
    scaling_factor: float = Field(default=0, ge=0)
    """How much quota of this resource goes with one of the other."""
    min_nonzero_project_quota: int = Field(default=0, ge=0)
    """The smallest project quota that is not zero, in the resource's unit."""
    commitment_durations: tuple[str, ...] = ()
    """The durations on offer, such as `1 year`. Empty: no commitments."""
    commitment_is_az_aware: bool = False
    """Whether commitments are for one availability zone."""
    commitment_min_confirm_date: datetime | None = None
    """Commitments are not confirmed before this time, such as `2030-01-01T00:00:00Z`."""
    annotations: dict[str, str] = Field(default_factory=dict)
    """Free-form hints for user interfaces, as names and texts. Numbers and booleans become texts, as in JSON."""

    @field_validator("annotations", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for key, item in value.items():
            if not isinstance(item, str | int | float | bool | date):
                raise ValueError(f"annotation {key!r}: expected a scalar")
        return {str(key): _as_text(item) for key, item in value.items()}

    @model_validator(mode="after")
    def _scaling_is_whole(self) -> "BehaviorSettings":
        if (self.scales_with is None) != (self.scaling_factor == 0):
            raise ValueError("scales_with and scaling_factor must be given together")
        return self


def _as_text(scalar: str | float | bool | date) -> str:
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return scalar.isoformat() if isinstance(scalar, date) else str(scalar)


class AutogrowSettings(Section):
    """How quota follows usage and commitments."""

    growth_multiplier: float = Field(ge=1, le=1_000_000, allow_inf_nan=False)
    """Quota is so many times what a project has committed to or used all the time of late, rounded down. 1: nothing is
    given beyond usage and commitments."""
    growth_minimum: int = Field(default=1, ge=0)
    """The least growth, in the resource's unit, where the multiplier is above 1 and there is something to grow from."""
    project_base_quota: int = Field(default=0, ge=0)
    """What each project gets at least, as far as the capacity goes, in the resource's unit."""
    usage_data_retention_period: Annotated[Seconds, Field(le=10 * 365 * 86400)]
    """How far back recent usage reaches, such as `48h`. Quota falls when usage has been lower for so long."""
    allow_quota_overcommit: bool = False
    """Give quota beyond the capacity, as if there were enough of it."""
    allow_quota_overcommit_until_allocated_percent: float = Field(default=0, ge=0, le=1_000_000, allow_inf_nan=False)
    """The same in each AZ, as long as usage and commitments are less than so many percent of its capacity. 0: never."""
    minor_change_percent: float = Field(default=5, ge=0, le=100, allow_inf_nan=False)
    """Changes of a quota by less than so many percent of it are not written more often than `minor_change_interval`, so
    that its history stays readable. What usage and commitments need is always written at once."""
    minor_change_interval: SecondsOrZero = 3600.0
    """How long a minor change waits after the last change."""


class QuotaDistributionSettings(Section):
    """How quota is distributed for the resources that match. The first match wins."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    model: Literal["hierarchical", "autogrow"] = "hierarchical"
    """`hierarchical`: people set quota of domains, and of projects within it. `autogrow`: quota of projects follows
    their usage and commitments by itself."""
    strict_domain_quota_limit: bool = False
    """The sum of all domain quotas may not exceed the capacity. For `hierarchical`."""
    autogrow: AutogrowSettings | None = None
    """For `autogrow`, which needs it."""

    @model_validator(mode="after")
    def _fits_the_model(self) -> "QuotaDistributionSettings":
        if self.model == "autogrow" and self.autogrow is None:
            raise ValueError("model autogrow needs `autogrow`, with growth_multiplier and usage_data_retention_period")
        if self.model != "autogrow" and self.autogrow is not None:
            raise ValueError(f"a section autogrow needs `model: autogrow`, not {self.model}")
        if self.model == "autogrow" and self.strict_domain_quota_limit:
            raise ValueError("strict_domain_quota_limit: with model autogrow, domains have no quota of their own")
        return self


ResourcePath = Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+$")]
"""`service/resource`."""


class CommitmentSettings(Section):
    """What projects may do with their commitments."""

    self_delete_grace: SecondsOrZero = 0.0
    """How long after creating a commitment its project may delete it, even if it is confirmed. 0: never; only cloud
    admins delete, and only unconfirmed ones."""
    renewal_window: Seconds = 90 * 86400.0
    """How long before its end a commitment may be renewed."""
    auto_renewal_lead: Seconds = 28 * 86400.0
    """How long before its end a commitment with `auto_renew` is renewed; not before half of its time has passed, nor
    before `renewal_window`."""
    retention: Seconds = 30 * 86400.0
    """How long after their end commitments are kept. One that was split, merged or converted is deleted with the last
    one made from it. Events stay for good."""

    use_days: int = Field(default=90, ge=1, le=3660)
    """How many days of daily usage by project are kept, for the utilisation report."""
    conversions: tuple[dict[ResourcePath, PositiveInt], ...] = ()
    """Groups of resources between which commitments can be converted: `service/resource`, each with the worth of one
    unit. A conversion keeps the total worth."""

    @model_validator(mode="after")
    def _kept_long_enough(self) -> "CommitmentSettings":
        if self.self_delete_grace > self.retention:
            raise ValueError("self_delete_grace must not be longer than retention")
        return self
