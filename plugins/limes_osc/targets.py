"""Commands about one domain or one project."""

import abc
import argparse
from typing import ClassVar

from osc_lib.exceptions import CommandError

from limes_osc.base import LimesCommand, Options
from limes_osc.options import add_domain, add_domain_option, add_project, add_project_option, add_scope
from limes_osc.scope import domain_path


class Targeted(LimesCommand):
    """A command about a domain or project."""

    level: ClassVar[str]
    """`domain` or `project`."""

    @abc.abstractmethod
    def path(self, args: argparse.Namespace) -> str:
        """Of the domain or project, below `/v1`."""


class OfDomain(Targeted):
    """About the domain that the first argument names."""

    level = "domain"
    options: ClassVar[Options] = (add_domain,)

    def path(self, args: argparse.Namespace) -> str:
        """See `Targeted`."""
        return domain_path(self.scopes.domain(args.domain, "the argument <domain>"))


class OfProject(Targeted):
    """About the project that the first argument names."""

    level = "project"
    options: ClassVar[Options] = (add_project, add_domain_option)

    def path(self, args: argparse.Namespace) -> str:
        """See `Targeted`."""
        return self.scopes.project(args.project, args.domain, "the argument <project>").path


class InProject(Targeted):
    """About something in the project that `--project` names."""

    level = "project"
    options: ClassVar[Options] = (add_project_option, add_domain_option)

    def path(self, args: argparse.Namespace) -> str:
        """See `Targeted`."""
        return self.scopes.project(args.project, args.domain, "--project").path


class InScope(LimesCommand):
    """About things in the project or domain that options name, or in the whole cloud; by default in what the token is
    for."""

    options: ClassVar[Options] = (add_scope,)

    def path(self, args: argparse.Namespace) -> str:
        """Returns the path of the project or domain; "" for the whole cloud. Raises `CommandError`."""
        if args.all_domains:
            if args.domain or args.project:
                raise CommandError("--all-domains goes with neither --domain nor --project")
            return ""
        scopes = self.scopes
        is_of_domain = args.domain or (scopes.has_own_domain and not scopes.has_own_project)
        if is_of_domain and not args.project:
            return domain_path(scopes.domain(args.domain))
        return scopes.project(args.project, args.domain, "--project").path
