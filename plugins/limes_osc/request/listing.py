"""Requests for more quota as rows, and the commands that list and show them."""

import argparse
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from cliff.columns import FormattableColumn
from osc_lib.exceptions import CommandError

from limes_osc.amounts import exact, unit_of
from limes_osc.base import Fields, LimesCommand, LimesLister, LimesShowOne, Options, Table
from limes_osc.client import Json, Refused, document_of
from limes_osc.columns import Columns, Row
from limes_osc.options import add_filters, add_long, add_paging, filters_of, paging_of
from limes_osc.scope import domain_path
from limes_osc.targets import InScope
from limes_osc.times import Moment, moment

EVERYWHERE = "/quota-requests"
"""The path of all requests."""
_STATUSES = ("open", "approved", "partly_approved", "rejected", "withdrawn", "superseded", "expired")


class Wanted(FormattableColumn[list[dict[str, Any]]]):
    """What is asked for: `compute/cores: 20 -> 40`; for programs a list of objects."""

    def human_readable(self) -> str:
        """Returns one line for each resource."""
        return "\n".join(_wanted(entry) for entry in self._value)


class Conversation(FormattableColumn[list[dict[str, Any]]]):
    """What was said and decided; for programs a list of objects."""

    def human_readable(self) -> str:
        """Returns one or more lines for each."""
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


def row_of(request: Json) -> Row:
    """Returns all cells of a request."""
    return {
        "ID": request["id"],
        "Status": request["status"],
        "Domain": request["domain"]["name"],
        "Project": request.get("project", {}).get("name"),
        "Wanted": Wanted(request["resources"]),
        "Reason": request["reason"],
        "Requested By": request["requester"]["name"] or request["requester"].get("id"),
        "Created At": moment(request["created_at"]),
        "Decided At": moment(request.get("decided_at")),
        "Passed On From": request.get("passed_on_from"),
        "Passed On To": request.get("passed_on_to"),
        "From": moment(request.get("from")),
        "Until": moment(request.get("until")),
        "Domain ID": request["domain"]["id"],
        "Project ID": request.get("project", {}).get("id"),
    }


def _add_kinds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", action="append", choices=_STATUSES, help="Only of this status (may be repeated)")
    parser.add_argument("--level", choices=("project", "domain"), help="Only those of projects, or those of domains")


class ListRequests(InScope, LimesLister):
    """List requests for more quota, the newest first; by default those of the token's project, or of its domain"""

    nothing = "No requests."
    options: ClassVar[Options] = (_add_kinds, add_filters, add_paging, add_long)
    _columns = Columns(
        [
            *("ID", "Status", "Domain", "Project", "Wanted", "Reason", "Requested By", "Created At", "Decided At"),
            *("Passed On From", "Passed On To", "From", "Until"),
        ],
        optional={"Project", "Decided At", "Passed On From", "Passed On To", "From", "Until"},
        hidden={"Requested By", "Created At", "Decided At"},
        more=["Domain ID", "Project ID"],
        unit=False,
    )

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Returns one row for each request."""
        query = [*filters_of(parsed_args), *paging_of(parsed_args)]
        query += [("status", status) for status in parsed_args.status or ()]
        query += [("level", parsed_args.level)] if parsed_args.level else []
        found = self.limes.get(f"{self.path(parsed_args)}{EVERYWHERE}", query)["quota_requests"]
        return self.table(parsed_args, self._columns, (row_of(request) for request in found))


def add_id(parser: argparse.ArgumentParser) -> None:
    """Adds the argument with the number of a request."""
    parser.add_argument("id", metavar="<id>", type=int, help="ID of the request (its number)")


class OneRequest(LimesShowOne):
    """About one request, wherever it is."""

    options: ClassVar[Options] = (add_id,)

    def request_fields(self, args: argparse.Namespace, answer: Json) -> Fields:
        """Returns the fields of the request in an answer, with its whole conversation."""
        request = answer["quota_request"]
        conversation, page = request["conversation"], answer
        while links := page.get("conversation_links"):
            link = urlsplit(links[0]["href"])
            page = self.limes.get(link.path.removeprefix("/v1"), parse_qsl(link.query))
            conversation = page["quota_request"]["conversation"] + conversation
        return self.fields(args, row_of(request) | {"Conversation": Conversation(conversation)})

    def post(self, args: argparse.Namespace, verb: str, body: Json) -> Fields:
        """Sends a decision or comment, and returns the fields of the request in the answer."""
        answer = self.limes.request("POST", f"{find_path(self, args.id)}/{verb}", (), body)
        return self.request_fields(args, self.warned(document_of(answer)))


class ShowRequest(OneRequest):
    """Show a request for more quota, with what was said and decided about it"""

    def take_action(self, parsed_args: argparse.Namespace) -> Fields:
        """Returns all its fields."""
        path = find_path(self, parsed_args.id)
        return self.request_fields(parsed_args, self.limes.get(path))


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
