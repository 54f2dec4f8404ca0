"""The plugin `dns`: what Designate counts. docs/plugins/dns.md."""

from limes.backends import Offer, Plugin
from limes_plugins.dns.service import DnsParams, DnsService

plugin = Plugin("Zones and recordsets of Designate.", quota=Offer(DnsParams, DnsService))
