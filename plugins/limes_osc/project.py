"""`limes project`."""

import argparse
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.base import LimesCommand, LimesLister, Options, Table
from limes_osc.client import Json
from limes_osc.columns import Columns, Row
from limes_osc.domain import identity_cells
from limes_osc.growth import add_grant_option, wants_bounds
from limes_osc.options import add_domain_option, add_paging, add_report_options, paging_of, report_query
from limes_osc.quota import SetQuotas, SimulateQuotas, confirm
from limes_osc.reports import columns_of, headers_of, rows_of
from limes_osc.scope import domain_path
from limes_osc.show import ShowReport
from limes_osc.targets import OfProject
from limes_osc.temporary import read_term


def _add_whose(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--domain", metavar="<domain>", help="Domain (name or ID; default: that of the token)")
    group.add_argument("--all-domains", action="store_true", help="Projects of all domains")


class ListProjects(LimesLister):
    """List quota and usage of a domain's projects"""

    options: ClassVar[Options] = (_add_whose, add_report_options, add_paging)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each project and resource."""
        everywhere = parsed_args.all_domains
        path = "/projects" if everywhere else f"{domain_path(self._domain(parsed_args))}/projects"
        query = [*report_query(parsed_args), *paging_of(parsed_args)]
        projects = self.limes.get(path, query, headers_of(parsed_args))["projects"]
        rows = (
            row for project in projects for row in rows_of("project", project, parsed_args, _identity_cells(project))
        )
        titles = [*(["Domain ID", "Domain Name"] if everywhere else []), "Project ID", "Project Name"]
        return self.table(parsed_args, columns_of("project", parsed_args, *titles), rows)

    def _domain(self, args: argparse.Namespace) -> str:
        return self.scopes.domain(args.domain, "--domain, list all projects with --all-domains")


def _identity_cells(project: Json) -> Row:
    """Returns the cells with id and name of a project, and of its domain in lists over all domains."""
    return (identity_cells("Domain", project["domain"]) if "domain" in project else {}) | identity_cells(
        "Project", project
    )


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

    options: ClassVar[Options] = (add_grant_option, _add_bursting)

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
        """Says nothing."""
        self.limes.request("POST", f"{self.path(parsed_args)}/sync")


class DiscoverProjects(LimesLister):
    """Look for new projects of a domain in Keystone, and list those that were found"""

    nothing = "No new projects."

    options: ClassVar[Options] = (add_domain_option,)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each new project."""
        path = f"{domain_path(self.scopes.domain(parsed_args.domain))}/projects/discover"
        project_ids = self.limes.discover(path, "new_projects")
        return self.table(
            parsed_args, Columns(["Project ID"], unit=False), ({"Project ID": project_id} for project_id in project_ids)
        )
