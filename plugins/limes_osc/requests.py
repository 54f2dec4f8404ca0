"""Requests for more quota: `limes request`."""

import argparse
from collections.abc import Iterable, Iterator
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

from osc_lib.exceptions import CommandError

from limes_osc import base, names, quota, quota_changes, values
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, Row, Text, at, named, shown

EVERYWHERE = "/quota-requests"
"""The path of all requests."""
_STATUSES = ("proposed", "open", "approved", "partly_approved", "rejected", "withdrawn", "superseded", "expired")


def _wanted(entries: list[Json]) -> Text:
    """What is asked for: `compute/cores: 20 -> 40`; for programs a list of objects."""
    lines = []
    for entry in entries:
        unit, granted = values.unit_of(entry), entry.get("granted_quota")
        text = f"{entry['service']}/{entry['resource']}"
        if entry["what"] != "quota":
            text += f" ({entry['what'].replace('_', ' ')})"
        text += f": {values.exact(entry['present_quota'], unit)} -> {values.exact(entry['wanted_quota'], unit)}"
        if granted is not None and granted != entry["wanted_quota"]:
            text += f" (granted: {values.exact(granted, unit)})"
        lines.append(text + (f" (by rule {entry['rule']})" if "rule" in entry else ""))
    return Text(entries, "\n".join(lines), width=0)


def _conversation(events: list[Json]) -> Text:
    """What was said and decided; for programs a list of objects."""
    lines = []
    for event in events:
        author, text = event["author"], f": {event['text']}" if event["text"] else ""
        head = f"{values.Moment(event['at']).to_the_second()} {author['name'] or author.get('id', '')}"
        lines.append(f"{head}: {event['kind'].replace('_', ' ')}{text}")
    return Text(events, "\n".join(lines), width=0)


REQUEST = Columns(
    {
        "ID": "id",
        "Status": "status",
        "Domain": "domain.name",
        "Project": "project.name",
        "Wanted": shown(_wanted, "resources"),
        "Reason": "reason",
        "Requested By": lambda request, _: request["requester"]["name"] or request["requester"].get("id"),
        **named(at, "created_at", "decided_at"),
        **named(str, "passed_on_from", "passed_on_to"),
        **named(at, "from", "until"),
        "Domain ID": "domain.id",
        "Project ID": "project.id",
    },
    optional={"Project", "Decided At", "Passed On From", "Passed On To", "From", "Until"},
    hidden={"Requested By", "Created At", "Decided At"},
    more={"Domain ID", "Project ID"},
    unit=False,
)


class ListRequests(base.InScope, base.Listing):
    """List requests for more quota, the newest first; by default those of the token's project, or of its domain"""

    nothing = "No requests."
    options = [
        base.option("--status", action="append", choices=_STATUSES, help="Only of this status (may be repeated)"),
        base.option("--level", choices=("project", "domain"), help="Only those of projects, or those of domains"),
        *(base.add_filters, *base.PAGING, base.add_long),
    ]
    columns = REQUEST

    def entries(self, args: argparse.Namespace) -> Iterable[Json]:
        asked = {name: getattr(args, name) for name in ("limit", "marker", "status", "level")}
        return self.found(args, f"{self.path(args)}{EVERYWHERE}", "quota_requests", **asked)


class OneRequest(base.LimesShowOne):
    options = [base.option("id", type=int, help="ID of the request (its number)")]

    def answered(self, answer: Json) -> Row:
        """Returns the fields of the request in an answer, with its whole conversation."""
        request = answer["quota_request"]
        conversation, page = request["conversation"], answer
        while links := page.get("conversation_links"):
            link = urlsplit(links[0]["href"])
            page = self.limes.get(link.path.removeprefix("/v1"), parse_qsl(link.query))
            conversation = page["quota_request"]["conversation"] + conversation
        return REQUEST.row(request) | {"Conversation": _conversation(conversation)}


class ShowRequest(OneRequest):
    """Show a request for more quota, with what was said and decided about it"""

    def row(self, args: argparse.Namespace) -> Row:
        return self.answered(self.limes.get(find_path(self, args.id)))


def find_path(command: base.LimesCommand, number: int) -> str:
    """Returns where the request is, below `/v1`: it is looked for in all lists that the user may see. Raises
    `CommandError`."""
    query = [("marker", str(number + 1)), ("limit", "1")]
    for place in _places(command):
        try:
            found = command.limes.get(f"{place}{EVERYWHERE}", query)["quota_requests"]
        except Refused as refused:
            if refused.status in (403, 404):  # 404: Limes does not know the domain or project of the token
                continue
            raise
        if found and found[0]["id"] == number:
            domain_id, project = found[0]["domain"]["id"], found[0].get("project")
            path = names.project_path(domain_id, project["id"]) if project else names.domain_path(domain_id)
            return f"{path}{EVERYWHERE}/{number}"
    raise CommandError(f"there is no request {number}, or not for this user")


def _places(command: base.LimesCommand) -> Iterator[str]:
    yield ""
    if command.scopes.has_own_domain:
        yield command.scopes.domain_path(None)
    if command.scopes.has_own_project:
        yield command.scopes.project_path(None, None)


_add_reason = base.option("--reason", metavar="<text>", required=True, help="Why")
_add_comment = base.option("--comment", metavar="<text>", default="", help="A comment")


class CreateRequest(base.LimesShowOne):
    """Ask for more quota of a project, or of a domain; an admin of the project confirms what members ask for"""

    options = [
        *(quota.add_set_option, quota_changes.add_quota_set_option, _add_reason),
        base.time_option("--until", help="Until when it is wanted (ISO 8601 or UNIX time)"),
        base.time_option("--from", dest="starts_at", help="From when it is wanted (with --until; default: now)"),
        base.add_project_option,
        base.option("--domain", help="Domain (name or ID; default: that of the token)"),
        base.option("--of-domain", action="store_true", help="Ask for quota of the domain itself"),
    ]

    def row(self, args: argparse.Namespace) -> Row:
        path = (
            self.scopes.domain_path(args.domain)
            if args.of_domain
            else self.scopes.project_path(args.project, args.domain)
        )
        fields = {"reason": args.reason, "until": args.until, "from": args.starts_at, "quota_set": args.quota_set}
        document = {name: value for name, value in fields.items() if value is not None}
        if args.set or args.quota_set is None:
            document |= _services(self, quota_changes.read_wanted_quotas(self.limes, args.set), path)
        request = self.send("POST", f"{path}{EVERYWHERE}", {"quota_request": document})["quota_request"]
        return REQUEST.row(request) | {"Conversation": _conversation(request["conversation"])}


def _services(command: base.LimesShowOne, wanted: dict[quota_changes.Ref, str], path: str) -> Json:
    """Returns what `--set` asks for, in a body. Requests are about the quotas that come after those for a time."""
    report = command.limes.get(path)["project" if "/projects/" in path else "domain"]
    for service in report["services"]:
        for resource in service["resources"]:
            before = resource.get("temporary_quota", {}).get("quota_before")
            if before is not None:
                resource["quota"] = before
    return quota_changes.services_of(quota_changes.plan(command.limes, wanted, report), {})


class Decision(OneRequest):
    """Sends a decision or comment, and returns the fields of the request in the answer."""

    verb: ClassVar[str]
    said: ClassVar[str] = "comment"
    """The option, and the field in the body, that has the words."""

    def body(self, args: argparse.Namespace) -> Json:
        return {self.said: getattr(args, self.said)}

    def row(self, args: argparse.Namespace) -> Row:
        body = self.body(args)
        return self.answered(self.send("POST", f"{find_path(self, args.id)}/{self.verb}", body))


class ConfirmRequest(Decision):
    """Confirm what a member of the project has proposed, so that it goes to those who decide"""

    options = [_add_comment]
    verb = "confirm"


class ApproveRequest(Decision):
    """Approve a request for more quota, or a part of it with --set"""

    options = [quota.add_set_option, _add_comment]
    verb = "approve"

    def body(self, args: argparse.Namespace) -> Json:
        body = super().body(args)
        if args.set:
            wanted = quota_changes.read_wanted_quotas(self.limes, args.set)
            body |= _services(self, wanted, find_path(self, args.id).partition(EVERYWHERE)[0])
        return body


class RejectRequest(Decision):
    """Reject a request for more quota"""

    options = [_add_reason]
    verb, said = "reject", "reason"


class WithdrawRequest(Decision):
    """Take back a request for more quota"""

    options = [_add_comment]
    verb = "withdraw"


class PassOnRequest(Decision):
    """Ask the cloud's admins for the domain quota that a project's request needs; returns the domain's request"""

    options = [_add_comment]
    verb = "pass-on"


class CommentOnRequest(Decision):
    """Comment on a request for more quota"""

    options = [base.option("comment", metavar="<text>", help="The comment")]
    verb = "comments"
