"""Commands that show reports, and who one is."""

import argparse
from typing import ClassVar

from limes_osc.base import Fields, LimesLister, LimesShowOne, Options, Table
from limes_osc.options import add_report_options, report_query
from limes_osc.reports import columns_of, headers_of, rows_of
from limes_osc.targets import Targeted


class ShowReport(Targeted, LimesLister):
    """Quota and usage of a domain or project, or of the cluster."""

    options: ClassVar[Options] = (add_report_options,)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each resource."""
        path = self.path(parsed_args)
        report = self.limes.get(path, report_query(parsed_args), headers_of(parsed_args))[self.level]
        for service in report["services"]:
            if problem := service.get("scrape_problem"):
                self.warn(problem["message"])
        return self.table(parsed_args, columns_of(self.level, parsed_args), rows_of(self.level, report, parsed_args))


class ShowCluster(ShowReport):
    """Show capacity, quota and usage of the whole cloud"""

    level = "cluster"

    def path(self, args: argparse.Namespace) -> str:
        """Returns the path of the only cluster."""
        return "/clusters/current"


class ShowIdentity(LimesShowOne):
    """Show who you are logged in as: user, domain or project, and roles"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """User, scope and roles."""
        identity = self.limes.get("/identity")["identity"]
        scope = identity["scope"] or {}
        project = scope.get("project", {})
        domain = project.get("domain") or scope.get("domain", {})
        return self.fields(
            parsed_args,
            {
                "User ID": identity["user"]["id"],
                "User Name": identity["user"]["name"],
                "Domain ID": domain.get("id"),
                "Domain Name": domain.get("name"),
                "Project ID": project.get("id"),
                "Project Name": project.get("name"),
                "System": scope.get("system"),
                "Roles": ", ".join(identity["roles"]),
            },
        )
