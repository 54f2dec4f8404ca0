"""Requests for more quota: `limes request`."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes_osc.base import (
    PAGING,
    InScope,
    LimesCommand,
    LimesShowOne,
    Listing,
    add_filters,
    add_long,
    add_project_option,
    option,
    time_option,
)
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, Row, at, shown
from limes_osc.names import domain_path
from limes_osc.quota import add_set_option
from limes_osc.quota_changes import Ref, add_quota_set_option, plan, read_wanted_quotas, services_of
from limes_osc.values import Moment, exact, unit_of

EVERYWHERE = "/quota-requests"
"""The path of all requests."""
_STATUSES = ("open", "approved", "partly_approved", "rejected", "withdrawn", "superseded", "expired")


class Wanted(FormattableColumn[list[dict[str, Any]]]):
    """What is asked for: `compute/cores: 20 -> 40`; for programs a list of objects."""

    def human_readable(self) -> str:
        return "\n".join(_wanted(entry) for entry in self._value)


class Conversation(FormattableColumn[list[dict[str, Any]]]):
    """What was said and decided; for programs a list of objects."""

    def human_readable(self) -> str:
        return "\n".join(
            f"{Moment(event['at']).to_the_second()} {event['author']['name'] or event['author'].get('id', '')}:"
            f" {event['kind'].replace('_', ' ')}" + (f": {event['text']}" if event["text"] else "")
            for event in self._value
        )


def _wanted(entry: Json) -> str:
    unit, granted = unit_of(entry), entry.get("granted_quota")
    text = f"{entry['service']}/{entry['resource']}"
    if entry["what"] != "quota":
        text += f" ({entry['what'].replace('_', ' ')})"
    text += f": {exact(entry['present_quota'], unit)} -> {exact(entry['wanted_quota'], unit)}"
    if granted is not None and granted != entry["wanted_quota"]:
        text += f" (granted: {exact(granted, unit)})"
    if "rule" in entry:
        text += f" (by rule {entry['rule']})"
    return text


REQUEST = Columns(
    {
        "ID": "id",
        "Status": "status",
        "Domain": "domain.name",
        "Project": "project.name",
        "Wanted": shown(Wanted, "resources"),
        "Reason": "reason",
        "Requested By": lambda request, _: request["requester"]["name"] or request["requester"].get("id"),
        "Created At": at("created_at"),
        "Decided At": at("decided_at"),
        "Passed On From": "passed_on_from",
        "Passed On To": "passed_on_to",
        "From": at("from"),
        "Until": at("until"),
        "Domain ID": "domain.id",
        "Project ID": "project.id",
    },
    optional={"Project", "Decided At", "Passed On From", "Passed On To", "From", "Until"},
    hidden={"Requested By", "Created At", "Decided At"},
    more={"Domain ID", "Project ID"},
    unit=False,
)


class ListRequests(InScope, Listing):
    """List requests for more quota, the newest first; by default those of the token's project, or of its domain"""

    nothing = "No requests."
    options = [
        option("--status", action="append", choices=_STATUSES, help="Only of this status (may be repeated)"),
        option("--level", choices=("project", "domain"), help="Only those of projects, or those of domains"),
        *(add_filters, *PAGING, add_long),
    ]
    columns = REQUEST

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        asked = {"limit": args.limit, "marker": args.marker, "status": args.status, "level": args.level}
        return self.found(args, f"{self.path(args)}{EVERYWHERE}", "quota_requests", **asked)


class OneRequest(LimesShowOne):
    """About one request, wherever it is."""

    options = [option("id", type=int, help="ID of the request (its number)")]

    def answered(self, answer: Json) -> Row:
        """Returns the fields of the request in an answer, with its whole conversation."""
        request = answer["quota_request"]
        conversation, page = request["conversation"], answer
        while links := page.get("conversation_links"):
            link = urlsplit(links[0]["href"])
            page = self.limes.get(link.path.removeprefix("/v1"), parse_qsl(link.query))
            conversation = page["quota_request"]["conversation"] + conversation
        return REQUEST.row(request) | {"Conversation": Conversation(conversation)}

    def post(self, args: argparse.Namespace, verb: str, body: Json) -> Row:
        """Sends a decision or comment, and returns the fields of the request in the answer."""
        return self.answered(self.send("POST", f"{find_path(self, args.id)}/{verb}", body))


class ShowRequest(OneRequest):
    """Show a request for more quota, with what was said and decided about it"""

    def row(self, args: argparse.Namespace) -> Row:
        return self.answered(self.limes.get(find_path(self, args.id)))


def find_path(command: LimesCommand, number: int) -> str:
    """Returns where the request of that number is, below `/v1`: it is looked for in all lists that the user may see.

    Raises `CommandError`.
    """
    query = [("marker", str(number + 1)), ("limit", "1")]
    for place in _places(command):
        try:
            found = command.limes.get(f"{place}{EVERYWHERE}", query)["quota_requests"]
        except Refused as refused:
            if refused.status in (403, 404):  # 404: Limes does not know the domain or project of the token
                continue
            raise
        if found and found[0]["id"] == number:
            path = domain_path(found[0]["domain"]["id"])
            if "project" in found[0]:
                path += f"/projects/{found[0]['project']['id']}"
            return f"{path}{EVERYWHERE}/{number}"
    raise CommandError(f"there is no request {number}, or not for this user")


def _places(command: LimesCommand) -> Iterator[str]:
    yield ""
    if command.scopes.has_own_domain:
        yield domain_path(command.scopes.domain(None))
    if command.scopes.has_own_project:
        yield command.scopes.project(None, None, "--project").path


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
