"""Asking for more quota, and deciding: `create`, `approve`, `reject`, `withdraw`, `comment` and `pass-on`."""

import argparse
from functools import partial
from typing import Any, ClassVar

from limes_osc.base import Fields, LimesShowOne, Options
from limes_osc.client import Json, document_of
from limes_osc.filters import read_inventory
from limes_osc.quota import add_set_option
from limes_osc.quota_changes import Change, body_of, plan, read_wanted_quotas
from limes_osc.quota_sets import add_quota_set_option
from limes_osc.request.listing import EVERYWHERE, Conversation, OneRequest, find_path, row_of
from limes_osc.scope import domain_path
from limes_osc.times import read_time


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="<project>", help="Project (name or ID; default: that of the token)")
    parser.add_argument("--domain", metavar="<domain>", help="Domain (name or ID; default: that of the token)")
    parser.add_argument("--of-domain", action="store_true", help="Ask for quota of the domain itself")


def _add_reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", metavar="<text>", required=True, help="Why")


def _add_term(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--until", metavar="<time>", type=read_time, help="Until when it is wanted (ISO 8601 or UNIX time)"
    )
    parser.add_argument(
        "--from", metavar="<time>", type=read_time, dest="starts_at", help="From when on (with --until; default: now)"
    )


def _add_comment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--comment", metavar="<text>", default="", help="What else is to be said")


class CreateRequest(LimesShowOne):
    """Ask for more quota of a project, or of a domain"""

    options: ClassVar[Options] = (add_set_option, add_quota_set_option, _add_reason, _add_term, _add_place)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the request."""
        args, level = parsed_args, "domain" if parsed_args.of_domain else "project"
        path = (
            domain_path(self.scopes.domain(args.domain))
            if args.of_domain
            else self.scopes.project(args.project, args.domain, "--project").path
        )
        term = {name: time for name, time in (("until", args.until), ("from", args.starts_at)) if time is not None}
        document: dict[str, Any] = {"reason": args.reason, **term}
        if args.quota_set is not None:
            document["quota_set"] = args.quota_set
        if args.set or args.quota_set is None:
            report = _afterwards(self.limes.get(path)[level])
            document |= _services(
                plan(read_wanted_quotas(self.limes, args.set), report, partial(read_inventory, self.limes))
            )
        body = {"quota_request": document}
        answer = self.limes.request("POST", f"{path}{EVERYWHERE}", (), body)
        request = self.warned(document_of(answer))["quota_request"]
        return self.fields(args, row_of(request) | {"Conversation": Conversation(request["conversation"])})


def _afterwards(report: Json) -> Json:
    """Returns a report with the quotas that come after those for a time: requests are about these."""

    def after(resource: Json) -> Json:
        before = resource.get("temporary_quota", {}).get("quota_before")
        return resource if before is None else {**resource, "quota": before}

    services = [
        {**service, "resources": [after(resource) for resource in service["resources"]]}
        for service in report["services"]
    ]
    return {**report, "services": services}


def _services(changes: list[Change]) -> dict[str, Any]:
    services: dict[str, Any] = body_of("request", changes)["request"]
    return services


class ApproveRequest(OneRequest):
    """Approve a request for more quota, or a part of it with --set"""

    options: ClassVar[Options] = (add_set_option, _add_comment)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the request."""
        body: dict[str, Any] = {"comment": parsed_args.comment}
        if parsed_args.set:
            wanted = read_wanted_quotas(self.limes, parsed_args.set)
            place = find_path(self, parsed_args.id).partition(EVERYWHERE)[0]
            report = _afterwards(self.limes.get(place)["project" if "/projects/" in place else "domain"])
            body |= _services(plan(wanted, report, partial(read_inventory, self.limes)))
        return self.post(parsed_args, "approve", body)


class RejectRequest(OneRequest):
    """Reject a request for more quota"""

    options: ClassVar[Options] = (_add_reason,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the request."""
        return self.post(parsed_args, "reject", {"reason": parsed_args.reason})


class WithdrawRequest(OneRequest):
    """Take back a request for more quota"""

    options: ClassVar[Options] = (_add_comment,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the request."""
        return self.post(parsed_args, "withdraw", {"comment": parsed_args.comment})


class PassOnRequest(OneRequest):
    """Ask the cloud's admins for the domain quota that a project's request needs; returns the domain's request"""

    options: ClassVar[Options] = (_add_comment,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the domain's request."""
        return self.post(parsed_args, "pass-on", {"comment": parsed_args.comment})


def _add_text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="<text>", help="The comment")


class CommentOnRequest(OneRequest):
    """Comment on a request for more quota"""

    options: ClassVar[Options] = (_add_text,)

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns the request."""
        return self.post(parsed_args, "comments", {"comment": parsed_args.text})
