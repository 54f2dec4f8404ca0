"""What a backend plugin must be, and all that it needs: plugins import this package and nothing else of ours."""

from limes.backends.base import (
    NO_DEMAND,
    UNLIMITED,
    AZCapacity,
    AZDemand,
    AZUsage,
    BackendQuota,
    CapacityBackend,
    CapacityReport,
    Demand,
    DiscoveryBackend,
    DomainInfo,
    ProjectInfo,
    QuotaBackend,
    ResourceDemand,
    ResourceUsage,
    Unlimited,
    UsageReport,
    add_usage,
    limited,
)
from limes.backends.plugin import (
    NOT_EMPTY,
    Amount,
    AmountPerAZ,
    BackendContext,
    NoParams,
    Offer,
    Params,
    Plugin,
    QuotaValue,
    ResourceName,
    ResourceParams,
)
from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, Ref, ResourceDef, ServiceDef
from limes.kernel.errors import (
    BackendError,
    BackendMissing,
    BackendOutage,
    BackendOutdated,
    BackendRefusal,
    ConfigError,
)
from limes.kernel.units import MAX_AMOUNT, Unit, UnitError, convert, parse_value
from limes.kernel.validation.durations import SecondsOrZero

__all__ = [
    # what a plugin implements
    "Plugin", "Offer", "BackendContext",
    "Params", "NoParams", "ResourceParams", "ResourceName", "Amount", "AmountPerAZ", "QuotaValue", "SecondsOrZero",
    "NOT_EMPTY",
    "QuotaBackend", "CapacityBackend", "DiscoveryBackend",
    # what it describes and reports
    "Ref", "ServiceDef", "ResourceDef", "DomainInfo", "ProjectInfo",
    "UsageReport", "ResourceUsage", "AZUsage", "add_usage", "CapacityReport", "AZCapacity",
    "Demand", "ResourceDemand", "AZDemand", "NO_DEMAND",
    "ANY_AZ", "UNKNOWN_AZ", "BackendQuota", "Unlimited", "UNLIMITED", "limited",
    # units and errors
    "Unit", "UnitError", "MAX_AMOUNT", "convert", "parse_value", "ConfigError",
    "BackendError", "BackendOutage", "BackendMissing", "BackendRefusal", "BackendOutdated",
]  # fmt: skip
