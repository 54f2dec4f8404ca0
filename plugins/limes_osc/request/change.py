"""Asking for more quota, and deciding: `create`, `approve`, `reject`, `withdraw`, `comment` and `pass-on`."""

import argparse

from limes_osc.base import LimesShowOne
from limes_osc.client import Json
from limes_osc.columns import Row
from limes_osc.options import add_project_option, option, time_option
from limes_osc.quota import add_set_option
from limes_osc.quota_changes import Ref, plan, read_wanted_quotas, services_of
from limes_osc.quota_sets import add_quota_set_option
from limes_osc.request.listing import EVERYWHERE, REQUEST, Conversation, OneRequest, find_path
from limes_osc.scope import domain_path

_add_reason = option("--reason", metavar="<text>", required=True, help="Why")
_add_comment = option("--comment", metavar="<text>", default="", help="What else is to be said")


class CreateRequest(LimesShowOne):
    """Ask for more quota of a project, or of a domain"""

    options = [
        *(add_set_option, add_quota_set_option, _add_reason),
        time_option("--until", help="Until when it is wanted (ISO 8601 or UNIX time)"),
        time_option("--from", dest="starts_at", help="From when on (with --until; default: now)"),
        add_project_option,
        option("--domain", help="Domain (name or ID; default: that of the token)"),
        option("--of-domain", action="store_true", help="Ask for quota of the domain itself"),
    ]

    def row(self, args: argparse.Namespace) -> Row:
        path = (
            domain_path(self.scopes.domain(args.domain))
            if args.of_domain
            else self.scopes.project(args.project, args.domain, "--project").path
        )
        fields = {"reason": args.reason, "until": args.until, "from": args.starts_at, "quota_set": args.quota_set}
        document = {name: value for name, value in fields.items() if value is not None}
        if args.set or args.quota_set is None:
            document |= _services(self, read_wanted_quotas(self.limes, args.set), path)
        request = self.send("POST", f"{path}{EVERYWHERE}", {"quota_request": document})["quota_request"]
        return REQUEST.row(request) | {"Conversation": Conversation(request["conversation"])}


def _services(command: LimesShowOne, wanted: dict[Ref, str], path: str) -> Json:
    """Returns what `--set` asks for, in a body. Requests are about the quotas that come after those for a time."""
    report = command.limes.get(path)["project" if "/projects/" in path else "domain"]
    for service in report["services"]:
        for resource in service["resources"]:
            before = resource.get("temporary_quota", {}).get("quota_before")
            if before is not None:
                resource["quota"] = before
    return services_of(plan(command.limes, wanted, report), {})


class ApproveRequest(OneRequest):
    """Approve a request for more quota, or a part of it with --set"""

    options = [add_set_option, _add_comment]

    def row(self, args: argparse.Namespace) -> Row:
        body: Json = {"comment": args.comment}
        if args.set:
            wanted = read_wanted_quotas(self.limes, args.set)
            body |= _services(self, wanted, find_path(self, args.id).partition(EVERYWHERE)[0])
        return self.post(args, "approve", body)


class RejectRequest(OneRequest):
    """Reject a request for more quota"""

    options = [_add_reason]

    def row(self, args: argparse.Namespace) -> Row:
        return self.post(args, "reject", {"reason": args.reason})


class WithdrawRequest(OneRequest):
    """Take back a request for more quota"""

    options = [_add_comment]

    def row(self, args: argparse.Namespace) -> Row:
        return self.post(args, "withdraw", {"comment": args.comment})


class PassOnRequest(OneRequest):
    """Ask the cloud's admins for the domain quota that a project's request needs; returns the domain's request"""

    options = [_add_comment]

    def row(self, args: argparse.Namespace) -> Row:
        return self.post(args, "pass-on", {"comment": args.comment})


class CommentOnRequest(OneRequest):
    """Comment on a request for more quota"""

    options = [option("text", help="The comment")]

    def row(self, args: argparse.Namespace) -> Row:
        return self.post(args, "comments", {"comment": args.text})
