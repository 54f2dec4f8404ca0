"""`limes domain`."""

import argparse
from collections.abc import Iterable

from limes_osc.base import Listing, OfDomain, Table
from limes_osc.client import Json
from limes_osc.columns import Columns
from limes_osc.options import PAGING
from limes_osc.quota import SetQuotas, SimulateQuotas
from limes_osc.reports import REPORT, LimesReport
from limes_osc.show import ShowReport


class ListDomains(LimesReport):
    """List quota and usage of all domains"""

    options = [*REPORT, *PAGING]

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        domains = self.read(parsed_args, "/domains", limit=parsed_args.limit, marker=parsed_args.marker)["domains"]
        return self.report(parsed_args, "domain", domains, {"Domain ID": "report.id", "Domain Name": "report.name"})


class ShowDomain(OfDomain, ShowReport):
    """Show quota and usage of a domain"""


class SetDomain(OfDomain, SetQuotas):
    """Set quotas of a domain, or how far those of its projects may grow by themselves"""


class SimulateDomain(OfDomain, SimulateQuotas):
    """Show what setting quotas of a domain would do; the exit code is 1 if something would be refused"""


class DiscoverDomains(Listing):
    """Look for new domains in Keystone, and list those that were found"""

    nothing = "No new domains."
    columns = Columns({"Domain ID": "id"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        return self.limes.discover("/domains/discover", "new_domains")
