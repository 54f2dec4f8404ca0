"""`limes cluster`, `limes domain` and `limes project`."""

import argparse
from collections.abc import Iterable

from osc_lib.exceptions import CommandError

from limes_osc import base, client, quota_changes, reports
from limes_osc.columns import Cell, Columns
from limes_osc.quota import SetQuotas, SimulateQuotas, add_grant_option, confirm, wants_bounds


class ShowReport(base.Targeted, reports.LimesReport):
    options = [*reports.REPORT]

    def take_action(self, parsed_args: argparse.Namespace) -> base.Table:
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


class ListDomains(reports.LimesReport):
    """List quota and usage of all domains"""

    options = [*reports.REPORT, *base.PAGING]

    def take_action(self, parsed_args: argparse.Namespace) -> base.Table:
        domains = self.read(parsed_args, "/domains", limit=parsed_args.limit, marker=parsed_args.marker)["domains"]
        return self.report(parsed_args, "domain", domains, {"Domain ID": "report.id", "Domain Name": "report.name"})


class ShowDomain(base.OfDomain, ShowReport):
    """Show quota and usage of a domain"""


class SetDomain(base.OfDomain, SetQuotas):
    """Set quotas of a domain, or how far those of its projects may grow by themselves"""


class SimulateDomain(base.OfDomain, SimulateQuotas):
    """Show what setting quotas of a domain would do; the exit code is 1 if something would be refused"""


class DiscoverDomains(base.Listing):
    """Look for new domains in Keystone, and list them"""

    nothing = "No new domains."
    columns = Columns({"Domain ID": "id"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        return self.limes.discover("/domains/discover", "new_domains")


_add_whose = base.exclusive(
    base.option("--domain", help="Domain (name or ID; default: that of the token)"),
    base.option("--all-domains", action="store_true", help="Projects of all domains"),
)


class ListProjects(reports.LimesReport):
    """List quota and usage of a domain's projects"""

    options = [
        _add_whose,
        base.repeated("--label", metavar="<key>[:<value>]", help="Only projects with this label (may be repeated)"),
        *reports.REPORT,
        *base.PAGING,
    ]

    def take_action(self, parsed_args: argparse.Namespace) -> base.Table:
        path, whose = "/projects", dict[str, Cell]()
        if parsed_args.all_domains:
            if parsed_args.label:
                raise CommandError("--label does not go with --all-domains")
            whose = {"Domain ID": "report.domain.id", "Domain Name": "report.domain.name"}
        else:
            hint = "--domain, list all projects with --all-domains"
            path = f"{self.scopes.domain_path(parsed_args.domain, hint)}/projects"
        whose |= {"Project ID": "report.id", "Project Name": "report.name"}
        page = {"limit": parsed_args.limit, "marker": parsed_args.marker}
        projects = self.read(parsed_args, path, label=parsed_args.label, **page)["projects"]
        return self.report(parsed_args, "project", projects, whose)


class ShowProject(base.OfProject, ShowReport):
    """Show quota and usage of a project"""


def _switch(word: str, enabled: bool) -> base.Adder:
    text = f"{word.title()} bursting (not together with --set)"
    return base.option(f"--{word}-bursting", dest="bursting", action="store_const", const=enabled, help=text)


class SetProject(base.OfProject, SetQuotas):
    """Set quotas of a project, or how far they may grow by themselves, or switch its bursting"""

    options = [add_grant_option, base.exclusive(_switch("enable", True), _switch("disable", False))]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` if something is refused; then nothing was changed."""
        wanted = parsed_args.bursting
        if wanted is None:
            super().take_action(parsed_args)
            return
        if (
            parsed_args.set
            or parsed_args.quota_set
            or wants_bounds(parsed_args)
            or quota_changes.read_term(parsed_args)
        ):
            raise CommandError("quotas and bursting cannot be set in the same request")
        path = self.path(parsed_args)
        report, condition = self.limes.get_with_condition(path, [("service", "")])
        if "bursting" not in report["project"]:
            raise CommandError("there is no bursting in this cloud")
        words = {True: "enabled", False: "disabled"}
        present = report["project"]["bursting"]["enabled"]
        if present == wanted:
            self.say(f"bursting: {words[present]} (unchanged)")
            return
        self.say(f"bursting: {words[present]} -> {words[wanted]}")
        confirm(parsed_args)
        body = {"project": {"bursting": {"enabled": wanted}}}
        if pending := self.limes.request("PUT", path, (), body, condition).text.strip():
            self.warn(pending)


class SimulateProject(base.OfProject, SimulateQuotas):
    """Show what setting quotas of a project would do; the exit code is 1 if something would be refused"""


class SyncProject(base.OfProject, base.LimesCommand):
    """Ask Limes to update a project's usage as soon as possible"""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.limes.request("POST", f"{self.path(parsed_args)}/sync")


class DiscoverProjects(base.Listing):
    """Look for new projects of a domain in Keystone, and list them"""

    nothing = "No new projects."
    options = [base.add_domain_option]
    columns = Columns({"Project ID": "id"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[client.Json]:
        return self.limes.discover(f"{self.scopes.domain_path(args.domain)}/projects/discover", "new_projects")
