"""What Limes manages, under the key names of the original's configuration file."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import Name, Regex, Section


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


class AutogrowSettings(Section):
    """How quota follows usage and commitments."""

    growth_multiplier: float = Field(ge=1, le=1_000_000, allow_inf_nan=False)
    """Growth factor: quota is this number times what the project has committed to, or has used throughout the
    retention period, rounded down. 1: nothing beyond usage and commitments."""
    growth_minimum: int = Field(default=1, ge=0)
    """The least growth, in the resource's unit, where the multiplier is above 1 and there is something to grow from."""
    project_base_quota: int = Field(default=0, ge=0)
    """What each project gets at least, as far as the capacity goes, in the resource's unit."""
    usage_data_retention_period: Annotated[Seconds, Field(le=10 * 365 * 86400)]
    """How far back recent usage reaches, such as `48h`. Quota falls when usage has been lower for so long."""
    allow_quota_overcommit: bool = False
    """Give quota beyond the capacity, as if there were enough of it."""
    allow_quota_overcommit_until_allocated_percent: float = Field(default=0, ge=0, le=1_000_000, allow_inf_nan=False)
    """The same in each AZ, as long as usage and commitments are below this percentage of its capacity. 0: never."""
    minor_change_percent: float = Field(default=5, ge=0, le=100, allow_inf_nan=False)
    """Changes by less than this percentage of the quota are written at most once per `minor_change_interval`, so that
    its history stays readable. What usage and commitments need is always written at once."""
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
