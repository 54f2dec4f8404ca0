"""Commands that show reports, and who one is."""

import argparse

from limes_osc.base import LimesShowOne, Table, Targeted
from limes_osc.columns import Row
from limes_osc.reports import REPORT, LimesReport


class ShowReport(Targeted, LimesReport):
    """Quota and usage of a domain or project, or of the cluster."""

    options = [*REPORT]

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        report = self.read(parsed_args, self.path(parsed_args))[self.level]
        for service in report["services"]:
            if problem := service.get("scrape_problem"):
                self.warn(problem["message"])
        return self.report(parsed_args, self.level, [report])


class ShowCluster(ShowReport):
    """Show capacity, quota and usage of the whole cloud"""

    level = "cluster"

    def path(self, args: argparse.Namespace) -> str:
        return "/clusters/current"


class ShowIdentity(LimesShowOne):
    """Show who you are logged in as: user, domain or project, and roles"""

    def row(self, args: argparse.Namespace) -> Row:
        identity = self.limes.get("/identity")["identity"]
        scope = identity["scope"] or {}
        project = scope.get("project", {})
        domain = project.get("domain") or scope.get("domain", {})
        return {
            "User ID": identity["user"]["id"],
            "User Name": identity["user"]["name"],
            "Domain ID": domain.get("id"),
            "Domain Name": domain.get("name"),
            "Project ID": project.get("id"),
            "Project Name": project.get("name"),
            "System": scope.get("system"),
            "Roles": ", ".join(identity["roles"]),
        }
