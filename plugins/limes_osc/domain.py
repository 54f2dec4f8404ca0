"""`limes domain`."""

import argparse
from typing import ClassVar

from limes_osc.base import LimesLister, Options, Table
from limes_osc.client import Json
from limes_osc.columns import Columns
from limes_osc.options import add_paging, add_report_options, paging_of, report_query
from limes_osc.quota import SetQuotas, SimulateQuotas
from limes_osc.reports import columns_of, headers_of, rows_of
from limes_osc.show import ShowReport
from limes_osc.targets import OfDomain


class ListDomains(LimesLister):
    """List quota and usage of all domains"""

    options: ClassVar[Options] = (add_report_options, add_paging)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each domain and resource."""
        query = [*report_query(parsed_args), *paging_of(parsed_args)]
        domains = self.limes.get("/domains", query, headers_of(parsed_args))["domains"]
        rows = (
            row
            for domain in domains
            for row in rows_of("domain", domain, parsed_args, identity_cells("Domain", domain))
        )
        return self.table(parsed_args, columns_of("domain", parsed_args, "Domain ID", "Domain Name"), rows)


class ShowDomain(OfDomain, ShowReport):
    """Show quota and usage of a domain"""


class SetDomain(OfDomain, SetQuotas):
    """Set quotas of a domain, or how far those of its projects may grow by themselves"""


class SimulateDomain(OfDomain, SimulateQuotas):
    """Show what setting quotas of a domain would do; the exit code is 1 if something would be refused"""


class DiscoverDomains(LimesLister):
    """Look for new domains in Keystone, and list those that were found"""

    nothing = "No new domains."

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each new domain."""
        domain_ids = self.limes.discover("/domains/discover", "new_domains")
        return self.table(
            parsed_args, Columns(["Domain ID"], unit=False), ({"Domain ID": domain_id} for domain_id in domain_ids)
        )


def identity_cells(kind: str, document: Json) -> dict[str, str]:
    """Returns the cells with id and name of a domain or project."""
    return {f"{kind} ID": document["id"], f"{kind} Name": document["name"]}
