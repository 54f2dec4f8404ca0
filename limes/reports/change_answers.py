"""Changes of quotas, commitments and requests: as the change log shows them, and as the history of quotas does."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from limes.api.answers import Initiator, Link, Named, initiator, unit_of
from limes.audit.events import Reason, What
from limes.catalog.catalog import Catalog
from limes.kernel.calendar import render_time
from limes.kernel.errors import BadRequest
from limes.kernel.validation.shape import Amount, Shape, Time, Unit, one_of
from limes.quota.history import HistoryRow, NumberedChange
from limes.reports.change_queries import AUTOMATIC, WEBHOOK, Position
from limes.reports.change_sentences import sentence
from limes.reports.changes import KINDS, QUOTA_KINDS, Change

StoredAmount = Annotated[int, Field(ge=-1, description="-1 is a backend's unlimited quota")]
_SWITCHES = {What.BURSTING, What.FORBID_AUTOGROWTH, WEBHOOK}
_KIND = Field(json_schema_extra={"enum": [str(kind) for kind in KINDS]})
_CAUSE = Field(json_schema_extra={"enum": [*Reason, AUTOMATIC]})
_POSITION = re.compile(r"(\d{1,12}(?:\.\d{1,12})?):(\d):(\d{1,18})", re.ASCII)
_SAME = frozenset({"id", "uuid", "requested_at", "created_at", "unit", "related", "creator_uuid", "creator_name"})
"""Fields of commitments that no change is about."""


# -- the history of quotas ---------------------------------------------------------------------------------------------


class QuotaChange(Shape):
    """A change of one number."""

    number: Annotated[int, Field(ge=1)]
    at: Time
    what: Annotated[str, one_of(What)]
    service: str | None = None
    resource: str | None = None
    unit: Unit | None = None
    old: StoredAmount | bool | None
    new: StoredAmount | bool | None
    reason: Annotated[str, one_of(Reason)]
    detail: str | None = None
    initiator: Initiator
    request_id: str


class HistoryAnswer(Shape):
    """Changes, the newest first, and a link to older ones if there may be more."""

    history: list[QuotaChange]
    history_links: list[Link]


def render_quota_change(catalog: Catalog, change: NumberedChange) -> QuotaChange:
    """Renders one change. Amounts are in the resource's unit; bursting is true or false."""
    row = change.row
    old, new = _values(row)
    return QuotaChange(
        number=change.number,
        at=int(row.at),
        what=row.what,
        service=row.service_type or None,
        resource=row.resource_name if row.service_type else None,
        unit=unit_of(catalog, (row.service_type, row.resource_name)),
        old=old,
        new=new,
        reason=row.reason,
        detail=row.detail or None,
        initiator=initiator(row.initiator_id, row.initiator_name),
        request_id=row.request_id,
    )


def _values(row: HistoryRow) -> tuple[int | bool | None, int | bool | None]:
    return (bool(row.old), bool(row.new)) if row.what in _SWITCHES else (row.old, row.new)


# -- the change log ----------------------------------------------------------------------------------------------------


class ChangedField(Shape):
    """A field of a commitment, before and after."""

    name: str
    old: str | int | bool | None
    new: str | int | bool | None


class RequestedAmount(Shape):
    """What a request asks for of a resource, and what was granted of it."""

    service: str
    resource: str
    unit: Unit | None = None
    what: Annotated[str, one_of([What.QUOTA, What.MAX_QUOTA, What.MIN_QUOTA])]
    present: Amount
    wanted: Amount
    granted: Amount | None = None


class LoggedChange(Shape):
    """A change of a quota, a commitment or a request. `id` is its place in the log, as `marker` takes it."""

    id: str
    at: Time
    kind: Annotated[str, _KIND]
    event: Annotated[str, Field(description="what happened to the commitment or the request")] | None = None
    sentence: str
    domain: Named
    project: Named | None = None
    service: str | None = None
    resource: str | None = None
    unit: Unit | None = None
    old: StoredAmount | bool | None
    new: StoredAmount | bool | None
    fields: Annotated[list[ChangedField], Field(description="of a commitment: what else has changed")] = []
    amounts: Annotated[list[RequestedAmount], Field(description="of a request")] = []
    cause: Annotated[str, _CAUSE] | None = None
    detail: str | None = None
    initiator: Annotated[Initiator, Field(description="missing if it was not recorded (before 1.0)")] | None = None
    request_id: str | None = None
    commitment: Annotated[str, Field(description="its UUID")] | None = None
    quota_request: Annotated[int, Field(ge=1, description="the number of the quota request")] | None = None


class ChangesAnswer(Shape):
    """Changes, the newest first, and a link to older ones if there may be more."""

    changes: list[LoggedChange]
    changes_links: list[Link]
    quotas_kept_since: Annotated[int, Field(ge=0, description="older changes of quotas are deleted: UNIX timestamp")]


def render_change(catalog: Catalog, change: Change) -> LoggedChange:
    raw, row = change.raw, change.raw.row
    is_quota = row.what in QUOTA_KINDS
    old, new = _values(row)
    return LoggedChange(
        id=render_position(raw.position),
        at=int(row.at),
        kind=row.what,
        event=None if is_quota else row.detail,
        sentence=sentence(catalog, change),
        domain=Named(row.domain_uuid, change.domain_name),
        project=Named(row.project_uuid, change.project_name) if row.project_uuid else None,
        service=row.service_type or None,
        resource=row.resource_name or None,
        unit=unit_of(catalog, (row.service_type, row.resource_name)),
        old=old,
        new=new,
        fields=list(_changed_fields(change.before or {}, change.after or {})),
        amounts=[
            RequestedAmount(
                service=each.service_type,
                resource=each.resource_name,
                unit=unit_of(catalog, (each.service_type, each.resource_name)),
                what=each.what,
                present=each.present,
                wanted=each.wanted,
                granted=each.granted,
            )
            for each in change.amounts
        ],
        cause=row.reason or None,
        detail=(row.detail if is_quota else raw.document if change.amounts else "") or None,
        initiator=initiator(row.initiator_id, row.initiator_name) if row.initiator_id or row.initiator_name else None,
        request_id=row.request_id or None,
        commitment=raw.subject if change.after or change.before else None,
        quota_request=int(raw.subject) if change.amounts else None,
    )


def _changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChangedField]:
    for name in sorted((set(before) | set(after)) - _SAME):
        old, new = before.get(name), after.get(name)
        if old != new and name != "amount":
            yield ChangedField(name=name, old=old, new=new)


CSV_HEADER = (
    *("at", "kind", "event", "sentence", "domain_id", "domain_name", "project_id", "project_name", "service"),
    *("resource", "unit", "old", "new", "cause", "detail", "initiator_id", "initiator_name", "request_id"),
    *("commitment", "quota_request"),
)


def csv_cells(change: LoggedChange) -> tuple[object, ...]:
    """Returns the columns of `CSV_HEADER`."""
    project, who = change.project or Named("", ""), change.initiator
    return (
        *(render_time(change.at), change.kind, change.event, change.sentence),
        *(change.domain.id, change.domain.name, project.id, project.name, change.service, change.resource, change.unit),
        *(change.old, change.new, change.cause, change.detail, who and who.id, who and who.name, change.request_id),
        *(change.commitment, change.quota_request),
    )


def render_position(position: Position) -> str:
    return f"{position.at!r}:{position.source}:{position.number}"


def read_position(text: str) -> Position:
    """Raises `BadRequest`."""
    found = _POSITION.fullmatch(text)
    if found is None:
        raise BadRequest("query parameter marker: expected the `id` of a change")
    return Position(float(found[1]), int(found[2]), int(found[3]))
