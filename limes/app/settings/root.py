"""The whole configuration file."""

from collections import Counter

from pydantic import Field, model_validator

from limes.app.settings import processes
from limes.audit.settings import AuditSettings
from limes.auth.settings import IdentitySettings
from limes.catalog import catalog
from limes.catalog import settings as cluster
from limes.commitments.rules import CommitmentRules
from limes.kernel.outgoing import AnswerLimits
from limes.kernel.validation.sections import ConfigPath, Name, Section
from limes.lifetimes.settings import SubresourceLifetimeSettings
from limes.metering.settings import MeteringSettings
from limes.notifications.alerts import AlertRules
from limes.notifications.settings import NotificationSettings
from limes.placement.settings import PlacementSettings
from limes.quota.settings import QuotaSetSettings
from limes.requests.settings import QuotaRequestSettings
from limes.ui.settings import UiSettings
from limes.web.settings import ProxySettings


class Settings(Section):
    """The configuration file: the original's keys, and our own sections."""

    availability_zones: tuple[Name, ...]
    """The availability zones, by the names that backends use. Figures reported for any other zone count as `unknown`.
    A file that has a section `placement` may leave out both these and `services`: it is for `limes placement` alone."""
    catalog_url: str = ""
    """What clients see as this API's address in version documents (without `/v1`)."""
    discovery: cluster.DiscoverySettings = cluster.DiscoverySettings()
    services: tuple[cluster.ServiceSettings, ...]
    capacitors: tuple[cluster.CapacitorSettings, ...] = ()
    lowpriv_raise: cluster.LowPrivRaiseSettings = cluster.LowPrivRaiseSettings()
    bursting: cluster.BurstingSettings = cluster.BurstingSettings()
    resource_behavior: tuple[catalog.BehaviorRule, ...] = ()
    quota_distribution_configs: tuple[cluster.QuotaDistributionSettings, ...] = ()
    commitments: CommitmentRules = CommitmentRules()
    quota_requests: QuotaRequestSettings = QuotaRequestSettings()
    quota_sets: dict[Name, QuotaSetSettings] = Field(default_factory=dict)
    """Preset sizes of quota: a name such as `medium` -> what it stands for. One word sets or asks for all of it."""
    subresource_lifetimes: SubresourceLifetimeSettings = SubresourceLifetimeSettings()
    alerts: AlertRules = AlertRules()
    notifications: NotificationSettings = NotificationSettings()
    constraints_path: ConfigPath | None = None
    """Quota constraints (YAML). Environment: `LIMES_CONSTRAINTS_PATH`."""
    quota_overrides_path: ConfigPath | None = None
    """Quota of single projects that does not follow their usage (YAML or JSON), for the model `autogrow`: domain name
    -> project name -> service -> resource -> `10` or `10 GiB`. Read again when it changes. Environment:
    `LIMES_QUOTA_OVERRIDES_PATH`."""

    database: processes.DatabaseSettings = processes.DatabaseSettings()
    api: processes.ApiSettings = processes.ApiSettings()
    ui: UiSettings = UiSettings()
    collector: processes.CollectorSettings = processes.CollectorSettings()
    metrics: processes.MetricsSettings = processes.MetricsSettings()
    metering: MeteringSettings = MeteringSettings()
    circuit_breaker: processes.CircuitBreakerSettings = processes.CircuitBreakerSettings()
    answers: AnswerLimits = AnswerLimits()
    audit: AuditSettings = AuditSettings()
    placement: PlacementSettings = PlacementSettings()
    liquid: processes.LiquidSettings = processes.LiquidSettings()
    proxies: ProxySettings = ProxySettings()
    identity: IdentitySettings = IdentitySettings()
    logging: processes.LoggingSettings = processes.LoggingSettings()
    serve: processes.ServeSettings = processes.ServeSettings()

    @property
    def for_placement_alone(self) -> bool:
        """Whether the Limes half has nothing to do, so that only `limes placement` can work with this."""
        return "placement" in self.model_fields_set and not self.availability_zones and not self.services

    @property
    def usage_valid_for(self) -> float:
        """How long (in seconds) what a scrape has found counts as known."""
        return self.metering.valid_for or max(7200.0, 4 * self.collector.scrape_interval)

    @model_validator(mode="after")
    def _names_are_unique(self) -> "Settings":
        problems = [
            f"{key} {name!r} is given {count} times"
            for key, names in (
                ("availability_zones:", self.availability_zones),
                ("services: service_type", [service.service_type for service in self.services]),
                ("capacitors: id", [capacitor.id for capacitor in self.capacitors]),
            )
            for name, count in Counter(names).items()
            if count > 1
        ]
        for key, values in (("availability_zones", self.availability_zones), ("services", self.services)):
            if not values and not self.for_placement_alone:
                problems.append(f"{key}: at least one is needed")
        twice = 2 * self.collector.scrape_interval
        if self.metering.valid_for is not None and self.metering.valid_for < twice:
            problems.append(
                f"metering.valid_for: expected at least twice collector.scrape_interval ({twice:g} seconds),"
                f" or else each scrape that comes late makes a gap"
            )
        if self.ui.sign_in_with and self.identity.method != "keystone":
            problems.append(
                "ui.sign_in_with: providers sign people in at Keystone, so identity.method has to be keystone"
            )
        for reserved in {"any", "unknown"} & set(self.availability_zones):
            problems.append(f"availability_zones: {reserved!r} is a reserved name")
        if problems:
            raise ValueError("; ".join(problems))
        return self
