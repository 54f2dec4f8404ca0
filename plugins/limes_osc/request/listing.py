"""Requests for more quota as rows, and the commands that list and show them."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes_osc.amounts import exact, unit_of
from limes_osc.base import InScope, LimesCommand, LimesShowOne, Listing
from limes_osc.client import Json, Refused
from limes_osc.columns import Columns, Row, at, shown
from limes_osc.options import PAGING, add_filters, add_long, option
from limes_osc.scope import domain_path
from limes_osc.times import Moment

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
