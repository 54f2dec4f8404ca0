"""`limes project`."""

import argparse
from collections.abc import Iterable

from osc_lib.exceptions import CommandError

from limes_osc.base import LimesCommand, Listing, OfProject, Table
from limes_osc.client import Json
from limes_osc.columns import Cell, Columns
from limes_osc.growth import add_grant_option, wants_bounds
from limes_osc.options import PAGING, add_domain_option
from limes_osc.quota import SetQuotas, SimulateQuotas, confirm
from limes_osc.reports import REPORT, LimesReport
from limes_osc.scope import domain_path
from limes_osc.show import ShowReport
from limes_osc.temporary import read_term


def _add_whose(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--domain", metavar="<domain>", help="Domain (name or ID; default: that of the token)")
    group.add_argument("--all-domains", action="store_true", help="Projects of all domains")


class ListProjects(LimesReport):
    """List quota and usage of a domain's projects"""

    options = [_add_whose, *REPORT, *PAGING]

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        path, whose = "/projects", dict[str, Cell]()
        if parsed_args.all_domains:
            whose = {"Domain ID": "report.domain.id", "Domain Name": "report.domain.name"}
        else:
            hint = "--domain, list all projects with --all-domains"
            path = f"{domain_path(self.scopes.domain(parsed_args.domain, hint))}/projects"
        whose |= {"Project ID": "report.id", "Project Name": "report.name"}
        projects = self.read(parsed_args, path, limit=parsed_args.limit, marker=parsed_args.marker)["projects"]
        return self.report(parsed_args, "project", projects, whose)


class ShowProject(OfProject, ShowReport):
    """Show quota and usage of a project"""


def _add_bursting(parser: argparse.ArgumentParser) -> None:
    switch = parser.add_mutually_exclusive_group()
    for word, enabled in (("enable", True), ("disable", False)):
        switch.add_argument(
            f"--{word}-bursting",
            dest="bursting",
            action="store_const",
            const=enabled,
            help=f"{word.title()} bursting (not together with --set)",
        )


class SetProject(OfProject, SetQuotas):
    """Set quotas of a project, or how far they may grow by themselves, or switch its bursting"""

    options = [add_grant_option, _add_bursting]

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Raises `CommandError` if something is refused; then nothing was changed."""
        if parsed_args.bursting is None:
            super().take_action(parsed_args)
        elif parsed_args.set or parsed_args.quota_set or wants_bounds(parsed_args) or read_term(parsed_args):
            raise CommandError("quotas and bursting cannot be set in the same request")
        else:
            self._switch_bursting(parsed_args)

    def _switch_bursting(self, args: argparse.Namespace) -> None:
        path = self.path(args)
        report, condition = self.limes.get_with_condition(path, [("service", "")])
        if "bursting" not in report["project"]:
            raise CommandError("there is no bursting in this cloud")
        words = {True: "enabled", False: "disabled"}
        present = report["project"]["bursting"]["enabled"]
        if present == args.bursting:
            self.say(f"bursting: {words[present]} (unchanged)")
            return
        self.say(f"bursting: {words[present]} -> {words[args.bursting]}")
        confirm(args)
        body = {"project": {"bursting": {"enabled": args.bursting}}}
        if pending := self.limes.request("PUT", path, (), body, condition).text.strip():
            self.warn(pending)


class SimulateProject(OfProject, SimulateQuotas):
    """Show what setting quotas of a project would do; the exit code is 1 if something would be refused"""


class SyncProject(OfProject, LimesCommand):
    """Ask Limes to update a project's usage as soon as possible"""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.limes.request("POST", f"{self.path(parsed_args)}/sync")


class DiscoverProjects(Listing):
    """Look for new projects of a domain in Keystone, and list those that were found"""

    nothing = "No new projects."
    options = [add_domain_option]
    columns = Columns({"Project ID": "id"}, unit=False)

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        path = f"{domain_path(self.scopes.domain(args.domain))}/projects/discover"
        return self.limes.discover(path, "new_projects")
