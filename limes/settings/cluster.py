"""What there is to manage, under the key names of the original's configuration file."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from limes.settings.base import Name, Regex, Section


class DiscoverySettings(Section):
    """Where domains and projects come from."""

    method: str = "list"
    """`list` asks Keystone; `static` takes them from `params`; a plugin may offer more."""
    except_domains: Regex | None = None
    """Domains whose name matches (anywhere) are left out, even if `only_domains` matches too."""
    only_domains: Regex | None = None
    """Only domains whose name matches (anywhere) are taken."""
    params: dict[str, Any] = Field(default_factory=dict)


class RateLimitSettings(Section):
    """A rate limit that the service is known to apply. Accepted from the original's files; the API does not show it."""

    name: str
    unit: str = ""
    limit: int = Field(ge=0)
    window: str


class RateLimitsSettings(Section):
    """Rate limits of a service."""

    global_: tuple[RateLimitSettings, ...] = Field(default=(), alias="global")
    project_default: tuple[RateLimitSettings, ...] = ()


class ServiceSettings(Section):
    """A service whose quota is managed, and the backend plugin that knows how."""

    service_type: Name
    type: str
    """The name of the backend plugin."""
    params: dict[str, Any] = Field(default_factory=dict)
    rate_limits: RateLimitsSettings = RateLimitsSettings()


class CapacitorSettings(Section):
    """A source of capacity figures."""

    id: Name
    type: str
    """The name of the backend plugin."""
    params: dict[str, Any] = Field(default_factory=dict)


class LowPrivLimitSettings(Section):
    """Up to where those may raise quota who only have the low-privilege permission: service -> resource -> limit."""

    projects: dict[str, dict[str, str | int]] = Field(default_factory=dict)
    domains: dict[str, dict[str, str | int]] = Field(default_factory=dict)


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


class BehaviorSettings(Section):
    """How the resources that match behave. Several entries may match; `limes.core.catalog` says how they merge."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    scope: Regex | None = None
    """Matches the whole of a domain's name or of `domain/project`. Ignored on the cluster's level."""
    max_burst_multiplier: float | None = Field(default=None, ge=0)
    overcommit_factor: float = Field(default=0, ge=0)
    scales_with: str | None = Field(default=None, pattern=r"^[^/]+/[^/]+$")
    scaling_factor: float = Field(default=0, ge=0)
    min_nonzero_project_quota: int = Field(default=0, ge=0)
    commitment_durations: tuple[str, ...] = ()
    commitment_is_az_aware: bool = False
    commitment_min_confirm_date: str | None = None
    annotations: dict[str, Any] = Field(default_factory=dict)

    @field_validator("annotations")
    @classmethod
    def _scalars(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key, item in value.items():
            if not isinstance(item, str | int | float | bool):
                raise ValueError(f"annotation {key!r}: expected a scalar")
        return value

    @model_validator(mode="after")
    def _scaling_is_whole(self) -> "BehaviorSettings":
        if (self.scales_with is None) != (self.scaling_factor == 0):
            raise ValueError("scales_with and scaling_factor must be given together")
        return self


class QuotaDistributionSettings(Section):
    """How quota is distributed for the resources that match. The first match wins."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    model: Literal["hierarchical"] = "hierarchical"
    """The API document knows no other model."""
    strict_domain_quota_limit: bool = False
    """The sum of all domain quotas may not exceed the capacity."""
