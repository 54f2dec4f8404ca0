"""Where changes are written down: the history of quotas, the events of commitments, and what was said about requests.

Each of these gives its changes in the same form, the newest first, so that `limes.reports.changes` can merge them.
Nothing is stored a second time for that.
"""

from collections.abc import Callable, Collection, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import orjson
import peewee
from msgspec import Struct
from peewee import fn

from limes.catalog.catalog import Ref
from limes.commitments.models import CommitmentEvent
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, grouped, mapping, tuples
from limes.metering.models import MeteredProject
from limes.notifications import project_webhooks
from limes.projects.models import Domain, Project
from limes.quota.history import HistoryRow
from limes.quota.models import QuotaHistory
from limes.requests.models import QuotaRequest, QuotaRequestAmount, QuotaRequestEvent

COMMITMENT, REQUEST, WEBHOOK = "commitment", "request", project_webhooks.WHAT
"""Kinds of changes, besides those of `limes.audit.events.What`."""
BY_USERS, AUTOMATIC = "request", "automatic"
"""Causes that all sources know. `request` is as in the history of quotas: a user has asked for it."""


class Position(NamedTuple):
    """Where a change is in the log. Changes at the same time are in the order of sources, and then of numbers."""

    at: float
    source: int
    number: int


class Wanted(Struct, frozen=True):
    """Which changes are wanted. None, and no places, mean all."""

    domains: Collection[str] | None = None
    """UUIDs."""
    projects: Collection[str] | None = None
    """UUIDs; an empty one stands for the quotas of domains themselves."""
    refs: Collection[Ref] | None = None
    with_whole_project: bool = False
    """Whether changes that are about no single resource are shown with any `refs`."""
    kinds: Sequence[str] | None = None
    causes: Sequence[str] | None = None
    person: str | None = None
    """The id or the name of a user."""
    since: float | None = None
    until: float | None = None
    """The first time that is not included any more."""
    before: Position | None = None


class RawChange(NamedTuple):
    """A change as its source has it."""

    position: Position
    row: HistoryRow
    """Of a commitment or a request, `what` is that, and `detail` the name of the event."""
    subject: str = ""
    """The UUID of the commitment, or the number of the quota request."""
    document: str = ""
    """The commitment after the change, as JSON; or what was said about the request."""


def _places(uuid: Any, uuids: Collection[str] | None) -> list[Any]:
    return [] if uuids is None else [uuid.in_(list(uuids))]


def _times(model: Any, source: int, wanted: Wanted) -> list[Any]:
    """Conditions on the time, and on what earlier pages have shown."""
    found = [model.number > 0]  # there is always a condition
    if wanted.since is not None:
        found.append(model.at >= wanted.since)
    if wanted.until is not None:
        found.append(model.at < wanted.until)
    if (before := wanted.before) is not None:
        found.append(model.at <= before.at)  # for the index
        same_time = (model.at == before.at) if source > before.source else (model.at < 0)
        if source == before.source:
            same_time = (model.at == before.at) & (model.number < before.number)
        found.append((model.at < before.at) | same_time)
    return found


def _of_person(person: str | None, id_: peewee.Field, name: peewee.Field) -> list[Any]:
    return [] if person is None else [id_ != "", (id_ == person) | (name == person)]


def quota_changes(engine: Engine, source: int, wanted: Wanted, limit: int) -> list[RawChange]:
    """Changes of quotas, of their bounds, of bursting, and of webhooks."""
    row = QuotaHistory
    conditions = [
        *_places(row.domain_uuid, wanted.domains),
        *_places(row.project_uuid, wanted.projects),
        *_times(row, source, wanted),
        *_of_person(wanted.person, row.initiator_id, row.initiator_name),
    ]
    if wanted.refs is not None:
        is_wanted = [(row.service_type == service) & (row.resource_name == name) for service, name in wanted.refs]
        is_wanted += [row.service_type == ""] if wanted.with_whole_project else []
        conditions.append(reduce(or_, is_wanted, row.number < 0))
    if wanted.kinds is not None:
        conditions.append(row.what.in_(sorted(wanted.kinds)))
    if wanted.causes is not None:
        is_cause = row.reason.in_(sorted(wanted.causes))
        conditions.append(is_cause | (row.reason != BY_USERS) if AUTOMATIC in wanted.causes else is_cause)
        conditions += [row.initiator_id != ""] if set(wanted.causes) == {BY_USERS} else []  # for the index
    columns = [getattr(row, name) for name in HistoryRow._fields]
    query = row.select(row.number, *columns).where(*conditions).order_by(row.at.desc(), row.number.desc())
    found = engine.tuples(query.limit(limit))
    return [
        RawChange(Position(row.at, source, number), row) for number, *values in found for row in [HistoryRow(*values)]
    ]


def commitment_changes(engine: Engine, source: int, wanted: Wanted, limit: int) -> list[RawChange]:
    """Events of commitments. A commitment that was transferred is that of its new project."""
    row = CommitmentEvent
    conditions = [
        *_places(row.domain_uuid, wanted.domains),
        *_places(row.project_uuid, wanted.projects),
        *_times(row, source, wanted),
        *_of_person(wanted.person, row.initiator_id, row.initiator_name),
        *_of_causes(wanted.causes, (row.initiator_id == "") & (row.initiator_name != ""), row.initiator_id != ""),
    ]
    if wanted.refs is not None:
        conditions.append(_ref_in(engine, row.document, wanted.refs))
    columns = (row.number, row.at, row.event, row.commitment_uuid, row.project_uuid, row.document)
    who = (row.initiator_id, row.initiator_name, row.request_id)
    query = row.select(*columns, *who).where(*conditions).order_by(row.at.desc(), row.number.desc())
    return [_commitment_change(source, *found) for found in engine.tuples(query.limit(limit))]


def _ref_in(engine: Engine, document: peewee.Field, refs: Collection[Ref]) -> Any:
    """Whether a commitment is of one of these resources. No index is needed: there are few commitments a day."""
    if engine.dialect == "postgresql":
        fields = [
            fn.jsonb_extract_path_text(document.cast("jsonb"), name) for name in ("service_type", "resource_name")
        ]
    else:
        fields = [fn.json_extract(document, f"$.{name}") for name in ("service_type", "resource_name")]
    return fields[0].concat("/").concat(fields[1]).in_(["/".join(ref) for ref in refs])


def _of_causes(causes: Collection[str] | None, is_automatic: Any, has_user: Any) -> list[Any]:
    """What happens by time and capacity, or by a job, is automatic."""
    if causes is None:
        return []
    wanted = [condition for cause, condition in ((BY_USERS, has_user), (AUTOMATIC, is_automatic)) if cause in causes]
    return [reduce(or_, wanted, has_user & is_automatic)]


def _commitment_change(
    source: int, number: int, at: float, event: str, uuid: str, project: str, document: str, *who: str
) -> RawChange:
    after = orjson.loads(document)
    row = HistoryRow(
        at=at,
        domain_uuid=after["domain_id"],
        project_uuid=project,
        service_type=after["service_type"],
        resource_name=after["resource_name"],
        what=COMMITMENT,
        old=None,
        new=after["amount"],
        reason=BY_USERS if who[0] else AUTOMATIC if who[1] else "",
        detail=event,
        initiator_id=who[0],
        initiator_name=who[1],
        request_id=who[2],
    )
    return RawChange(Position(at, source, number), row, uuid, document)


def request_changes(engine: Engine, source: int, wanted: Wanted, limit: int) -> list[RawChange]:
    """What happened to requests for more quota, with what was said. They end with their project or domain."""
    row, request = QuotaRequestEvent, QuotaRequest
    project_uuid = fn.COALESCE(Project.uuid, "")
    conditions = [
        *_places(Domain.uuid, wanted.domains),
        *_places(project_uuid, wanted.projects),
        *_times(row, source, wanted),
        *_of_person(wanted.person, row.author_id, row.author_name),
        *_of_causes(wanted.causes, row.author_id == "", row.author_id != ""),
    ]
    if wanted.refs is not None:
        amount = QuotaRequestAmount
        name = amount.service_type.concat("/").concat(amount.resource_name)
        about = amount.select(amount.request).where(name.in_(["/".join(ref) for ref in wanted.refs]))
        conditions.append(request.id.in_(about))
    columns = (row.number, row.at, Domain.uuid, project_uuid, row.kind, row.text, row.author_id, row.author_name)
    query = row.select(*columns, request.id).join(request).join(Domain).switch(request)
    query = query.join(Project, peewee.JOIN.LEFT_OUTER).where(*conditions)
    found = engine.tuples(query.order_by(row.at.desc(), row.number.desc()).limit(limit))
    return [_request_change(source, *each) for each in found]


def _request_change(
    source: int,
    number: int,
    at: float,
    domain: str,
    project: str,
    kind: str,
    text: str,
    id_: str,
    name: str,
    request: int,
) -> RawChange:
    cause = BY_USERS if id_ else AUTOMATIC
    row = HistoryRow(at, domain, project, "", "", REQUEST, None, None, cause, kind, id_, name, "")
    return RawChange(Position(at, source, number), row, str(request), text)


Source = Callable[[Engine, int, Wanted, int], list[RawChange]]


# -- more about a page of changes --------------------------------------------------------------------------------------


class EventDocument(NamedTuple):
    commitment_uuid: str
    number: int
    document: str


@grouped(str, "commitment_uuid", EventDocument, skip_empty="uuids")
def documents_of(uuids: Collection[str]) -> Node:
    """All that is known of these commitments, in the order of time."""
    row = CommitmentEvent
    query = row.select(row.commitment_uuid, row.number, row.document).where(any_of(row.commitment_uuid, uuids))
    return query.order_by(row.number)


@mapping(str, str, skip_empty="uuids")
def domain_names(uuids: Collection[str]) -> Node:
    return Domain.select(Domain.uuid, Domain.name).where(any_of(Domain.uuid, uuids))


@mapping(str, str, skip_empty="uuids")
def project_names(uuids: Collection[str]) -> Node:
    return Project.select(Project.uuid, Project.name).where(any_of(Project.uuid, uuids))


class FormerNames(NamedTuple):
    project_name: str
    domain_name: str


@mapping(str, FormerNames, skip_empty="uuids")
def former_names(uuids: Collection[str]) -> Node:
    """The last names of projects that may be gone, by UUID."""
    row = MeteredProject
    query = row.select(row.project_uuid, row.project_name, row.domain_name)
    return query.where(any_of(row.project_uuid, uuids)).order_by(row.since)


@tuples(tuple[float, int])
def place_of_number(number: int) -> Node:
    """The time and number of the newest change of a quota that is not after this number."""
    row = QuotaHistory
    return row.select(row.at, row.number).where(row.number <= number).order_by(row.number.desc()).limit(1)
