"""The change log: who or what changed quotas, their bounds, bursting, commitments and requests, anywhere in the cloud.

It is read from where changes are written down anyway (`limes.reports.change_queries`), and merged by time. A page costs
the same few queries at any size of the cloud: each source has an index in the order of time.
"""

import heapq
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct, structs

from limes.app.context import Limes
from limes.audit.events import Reason, What
from limes.db.transactions import snapshot
from limes.kernel.calendar import render_time
from limes.kernel.errors import BadRequest
from limes.projects.scope import Place, find
from limes.quota.history import NumberedChange
from limes.reports import change_queries as queries
from limes.reports.change_queries import AUTOMATIC, BY_USERS, COMMITMENT, REQUEST, WEBHOOK, Position, RawChange, Wanted
from limes.requests.queries import AmountRow, amounts_of

QUOTA_KINDS = frozenset([*What, WEBHOOK])
"""What the history of quotas has. Webhooks are in it, as they have no history of their own."""
KINDS = (*What, COMMITMENT, REQUEST, WEBHOOK)
WITHOUT_REQUESTS = [kind for kind in KINDS if kind != REQUEST]
CAUSES = (*Reason, AUTOMATIC)
_WITHOUT_RESOURCE = frozenset([What.BURSTING, WEBHOOK])
_SOURCES: Sequence[tuple[frozenset[str], queries.Source]] = (
    (QUOTA_KINDS, queries.quota_changes),
    (frozenset([COMMITMENT]), queries.commitment_changes),
    (frozenset([REQUEST]), queries.request_changes),
)
_AT_ONCE = 1000
"""Changes that are in memory while all are streamed."""


class Change(Struct, frozen=True):
    """A change, with names of today, or the last that were known. Empty: no name is known."""

    raw: RawChange
    domain_name: str
    project_name: str
    before: Mapping[str, Any] | None = None
    """Of a commitment: what it was before, as `after` in the form of its document."""
    after: Mapping[str, Any] | None = None
    amounts: Sequence[AmountRow] = ()
    """Of a request: what it asks for, or what was granted."""


@snapshot
def list_changes(limes: Limes, place: Place, wanted: Wanted, limit: int) -> list[Change]:
    """Returns at most `limit` changes, the newest first: of the cloud, of a domain with its projects, or of a project.
    Raises `NotFound`."""
    return _described(limes, _merged(limes, _within(limes, place, wanted), limit))


def stream_changes(limes: Limes, place: Place, wanted: Wanted) -> Generator[list[Change]]:
    """Yields all of them in parts. Each part is as the database is then: what happens meanwhile is newer than all."""
    while part := list_changes(limes, place, wanted, _AT_ONCE):
        yield part
        if len(part) < _AT_ONCE:
            return
        wanted = structs.replace(wanted, before=part[-1].raw.position)


@snapshot
def list_quota_changes(limes: Limes, place: Place, wanted: Wanted, before: int, limit: int) -> list[NumberedChange]:
    """Returns at most `limit` changes of quotas with a number below `before`: of a project, or of a domain itself.
    Raises `NotFound`."""
    if wanted.refs is not None and not wanted.refs:
        find(limes.engine, place)
        return []
    wanted = structs.replace(_within(limes, place, wanted), kinds=[*What], projects=[place.project_uuid])
    for at, number in queries.place_of_number(limes.engine, before):
        position = Position(at, 0, before if number == before else number + 1)
        wanted = structs.replace(wanted, before=position)
        return [NumberedChange(each.position.number, each.row) for each in _merged(limes, wanted, limit)]
    return []


def kept_since(limes: Limes) -> int:
    """Returns from when on changes of quotas are kept. Those of commitments and requests are kept for longer."""
    return int(limes.now() - limes.settings.audit.history_retention)


def require_sensible(limes: Limes, wanted: Wanted) -> None:
    """Raises `BadRequest` for filters that are unknown, that no change could pass together, or for a time of which no
    change is kept."""
    for name, given, known in (("kind", wanted.kinds, KINDS), ("cause", wanted.causes, CAUSES)):
        if unknown := sorted(set(given or ()) - set(known)):
            raise BadRequest(f"query parameter {name}: {unknown[0]!r} is none of {', '.join(known)}")
    if wanted.since is not None and wanted.until is not None and wanted.since >= wanted.until:
        raise BadRequest("query parameter until: expected a time after `from`")
    if wanted.kinds and wanted.refs is not None and set(wanted.kinds) <= _WITHOUT_RESOURCE:
        raise BadRequest(f"kind={wanted.kinds[0]} is about no single resource, so it does not go with a resource")
    if (
        wanted.causes
        and wanted.kinds
        and not {BY_USERS, AUTOMATIC} & set(wanted.causes)
        and not QUOTA_KINDS & set(wanted.kinds)
    ):
        raise BadRequest(
            f"cause={wanted.causes[0]} is one of changes of quota, so it does not go with kind={wanted.kinds[0]}"
        )
    if wanted.person is not None and wanted.causes and not {BY_USERS} & set(wanted.causes):
        raise BadRequest(f"cause={wanted.causes[0]} is what Limes does by itself, so it does not go with a person")
    from_others = wanted.kinds is not None and not QUOTA_KINDS & set(wanted.kinds)
    if wanted.until is not None and wanted.until <= kept_since(limes) and not from_others:
        raise BadRequest(
            f"query parameter until: changes of quota are kept since {render_time(kept_since(limes))}"
            f" (audit.history_retention); kind={COMMITMENT} and kind={REQUEST} go further back"
        )


def _within(limes: Limes, place: Place, wanted: Wanted) -> Wanted:
    if place.domain_uuid:
        find(limes.engine, place)
        wanted = structs.replace(wanted, domains=[place.domain_uuid])
    return structs.replace(wanted, projects=[place.project_uuid]) if place.project_uuid else wanted


def _merged(limes: Limes, wanted: Wanted, limit: int) -> list[RawChange]:
    found = []
    for number, (kinds, read) in enumerate(_SOURCES):
        of_source = kinds if wanted.kinds is None else kinds & set(wanted.kinds)
        if of_source:
            only = None if of_source == kinds else sorted(of_source)
            found.append(read(limes.engine, number, structs.replace(wanted, kinds=only), limit))
    return list(heapq.merge(*found, key=lambda each: _order(each.position)))[:limit]


def _order(position: Position) -> tuple[float, int, int]:
    return -position.at, position.source, -position.number


def _described(limes: Limes, found: Sequence[RawChange]) -> list[Change]:
    engine = limes.engine
    projects, domains = {each.row.project_uuid for each in found} - {""}, {each.row.domain_uuid for each in found}
    project_names = queries.project_names(engine, projects)
    domain_names = queries.domain_names(engine, domains)
    former = queries.former_names(engine, projects - set(project_names))
    commitments = {each.subject for each in found if each.row.what == COMMITMENT}
    documents = queries.documents_of(engine, commitments)
    amounts = amounts_of(engine, [int(each.subject) for each in found if each.row.what == REQUEST])
    described = []
    for raw in found:
        last = former.get(raw.row.project_uuid)
        change = Change(
            raw,
            domain_names.get(raw.row.domain_uuid) or (last.domain_name if last else ""),
            project_names.get(raw.row.project_uuid) or (last.project_name if last else ""),
        )
        if raw.row.what == COMMITMENT:
            change = _with_documents(change, documents[raw.subject])
        elif raw.row.what == REQUEST:
            change = structs.replace(change, amounts=amounts.get(int(raw.subject), ()))
        described.append(change)
    return described


def _with_documents(change: Change, events: Sequence[queries.EventDocument]) -> Change:
    raw = change.raw
    earlier = [event.document for event in events if event.number < raw.position.number]
    before = orjson.loads(earlier[-1]) if earlier else None
    after = None if raw.row.detail == "deleted" else orjson.loads(raw.document)
    row = raw.row._replace(old=before and before["amount"], new=after and after["amount"])
    return structs.replace(change, raw=raw._replace(row=row), before=before, after=after)
