"""The plugin `static`: services, domains and projects as written in the configuration; for labs and tests."""

from limes.backends import Offer, Plugin
from limes_plugins.static.discovery import StaticDiscovery, StaticDiscoveryParams
from limes_plugins.static.service import StaticService, StaticServiceParams

plugin = Plugin(
    "Services, domains and projects as written in the configuration.",
    quota=Offer(StaticServiceParams, StaticService),
    discovery=Offer(StaticDiscoveryParams, StaticDiscovery),
)
