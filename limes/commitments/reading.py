"""Reading commitments, their events, and how much of them projects use: one project over time; and all of the cluster,
a domain or a project, by resource and AZ, with what ends soon."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any, NamedTuple

import orjson
from msgspec import Struct, field, structs
from pydantic import Field

from limes.app.context import Limes
from limes.backends.base import is_forbidden
from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import ANY_AZ, Selection
from limes.commitments import events as commitment_events
from limes.commitments import figures, queries, reshaping, rules, store
from limes.commitments.commitment import Status, advance
from limes.commitments.events import NumberedEvent
from limes.commitments.plan import DayOfUse, recommended_amount
from limes.commitments.store import CommitmentView
from limes.db.engine import Engine
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import NotFound
from limes.kernel.validation.shape import Amount, Shape, Unit
from limes.projects.scope import CLUSTER, NamedResource, Place, Scope, find_project, named_resources, scope_of
from limes.quota.queries import project_quotas_by_resource
from limes.usage import project_sums
from limes.usage import sums as stored_sums

_TOKEN = re.compile(r"[0-9a-f]{1,100}")
"""Anything else is no transfer token, and perhaps not a text that the database accepts."""

_EVENTS_AT_ONCE = 10_000
_FOR_EVER = 2.0**40


class ChangeFilter(Struct, frozen=True):
    """Which changes are wanted."""

    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By field of the commitment, as it was after the change."""
    since: float = 0
    until: float = math.inf
    """Times of changes, in seconds since the epoch; `until` itself is not among them."""

    def accepts(self, commitment: Mapping[str, Any]) -> bool:
        """Returns whether a change of that time is wanted, after which the commitment is like this."""
        return all(commitment[name] in wanted for name, wanted in self.values.items())


class Events(NamedTuple):
    """Changes of commitments, and the number after which to go on: with a selection, that of the last one read."""

    shown: list[NumberedEvent]
    next: int


@snapshot
def commitments_of_project(
    limes: Limes, domain_uuid: str, project_uuid: str, selection: Selection, *, with_history: bool = False
) -> list[CommitmentView]:
    """Returns a project's commitments by number, with ended ones if `with_history`. Raises `NotFound`. Commitments are
    shown as time has changed them, even if the job has not stored that yet."""
    project = find_project(limes.engine, domain_uuid, project_uuid)
    wanted, now = set(selection.refs), limes.now()
    present = [advance(each, now) for each in queries.of_project(limes.engine, project.id)]
    deadlines = reshaping.deadlines_of(present, limes.settings.commitments, now)
    return [
        structs.replace(each, deadlines=deadlines.get(each.commitment.id, reshaping.NO_DEADLINES))
        for each in store.views(limes, (each for each in present if with_history or each.is_live))
        if each.ref in wanted
    ]


@snapshot
def public_commitments(limes: Limes, selection: Selection) -> list[CommitmentView]:
    ids = catalog_queries.resource_ids(limes.engine)
    wanted = [ids[ref] for ref in selection.refs if ref in ids]
    return store.views(limes, queries.public(limes.engine, wanted, limes.now()))


@snapshot
def commitment_by_token(limes: Limes, token: str) -> CommitmentView:
    """Returns the commitment that is marked for transfer with this token. Raises `NotFound`."""
    commitment = queries.find_by_token(limes.engine, token) if _TOKEN.fullmatch(token) else None
    if commitment is None or not advance(commitment, limes.now()).is_live:
        raise NotFound("no matching commitment found")
    return store.view(limes, structs.replace(commitment, transfer_token=None))


@snapshot
def changes_after(limes: Limes, since: int, limit: int, selection: Selection, changes: ChangeFilter) -> Events:
    """Returns at most `limit` changes of commitments, over all projects, that come after number `since`. The answer is
    only empty if there are no more: with a selection, events are read until one matches."""
    is_whole = selection.is_whole(limes.catalog)  # also resources that are not configured any more
    if is_whole and not changes.values and changes.since <= 0 and changes.until >= _FOR_EVER:
        events = commitment_events.after(limes.engine, since, limit)
        return Events(events, events[-1].number if events else since)
    refs, times = set(selection.refs), (changes.since, changes.until)
    shown: list[NumberedEvent] = []
    while not shown and (batch := commitment_events.after(limes.engine, since, _EVENTS_AT_ONCE, *times)):
        for event in batch:
            since = event.number
            commitment = orjson.loads(event.document)
            is_selected = is_whole or (commitment["service_type"], commitment["resource_name"]) in refs
            if is_selected and changes.accepts(commitment):
                shown.append(event)
            if len(shown) == limit:
                return Events(shown, since)
    return Events(shown, since)


# -- use ---------------------------------------------------------------------------------------------------------------

_DAY = 86400


class UtilisationDay(Shape):
    """Averages of a day, and the smallest and largest usage that was seen."""

    date: str
    committed: Amount
    used: Amount
    unused: Amount
    min_used: Amount
    max_used: Amount


class Utilisation(Shape):
    """How commitments of a resource in one availability zone fit its usage."""

    service_type: str
    resource_name: str
    availability_zone: str
    recommended_amount: Amount
    days: list[UtilisationDay]
    unit: Unit | None = None


@atomic
def sample_utilisation(limes: Limes) -> None:
    """The job: adds the present figures of all projects to today's, for all resources that allow commitments. Fills in
    what processes of a release before 1.0 have left out."""
    now = limes.now()
    commitment_events.fill_domains(limes.engine, _EVENTS_AT_ONCE)
    today = int(now // _DAY)
    ids = catalog_queries.resource_ids(limes.engine)
    for by_az, refs in ((True, rules.az_aware_refs(limes.catalog)), (False, rules.pooled_refs(limes.catalog))):
        resources = [ids[ref] for ref in refs if ref in ids]
        figures.add_sample(limes.engine, resources, by_az=by_az, day=today, now=now)
    figures.forget_before(limes.engine, today - limes.settings.commitments.use_days)


@snapshot
def report_utilisation(
    limes: Limes, domain_uuid: str, project_uuid: str, selection: Selection, days: int
) -> list[Utilisation]:
    """Returns the last `days` days of a project, by resource and AZ. Raises `NotFound`."""
    today = int(limes.now() // _DAY)
    project = find_project(limes.engine, domain_uuid, project_uuid)
    refs = {id_: ref for ref, id_ in catalog_queries.resource_ids(limes.engine).items()}
    days_by_place = {
        (refs[resource_id], az): {day.day: day for day in found}
        for (resource_id, az), found in figures.of_project(limes.engine, project.id, today - days + 1).items()
    }
    wanted = set(selection.refs)
    rows = project_quotas_by_resource(limes.engine, project.id, refs)
    forbidden = {refs[id_] for id_, row in rows.items() if is_forbidden(row.max_backend_quota)}
    found = []
    for (ref, az), by_day in sorted(days_by_place.items()):
        if ref in wanted:
            # usage in an unknown AZ is shown, but no commitment can cover it
            can_commit = ref not in forbidden and az in rules.committable_azs(
                limes.catalog.behavior(ref), limes.catalog
            )
            recommended = recommended_amount(by_day, today) if can_commit else 0
            found.append(
                Utilisation(
                    service_type=ref[0],
                    resource_name=ref[1],
                    availability_zone=az,
                    recommended_amount=recommended,
                    days=[_day(each) for each in by_day.values()],
                    unit=limes.catalog.unit_of(ref).value or None,
                )
            )
    return found


def _day(day: DayOfUse) -> UtilisationDay:
    return UtilisationDay(
        date=(date(1970, 1, 1) + timedelta(days=day.day)).isoformat(),
        committed=day.committed,
        used=day.usage,
        unused=day.unused,
        min_used=day.usage_min,
        max_used=day.usage_max,
    )


# -- over many projects ------------------------------------------------------------------------------------------------


class ZoneSummary(Shape):
    """What projects have committed to, of one resource in one availability zone. Amounts are in the unit."""

    service_type: str
    resource_name: str
    availability_zone: str
    committed: Annotated[int, Field(ge=0, description="confirmed")]
    used: Annotated[int, Field(ge=0, description="of what is confirmed: each project uses its own only")]
    unused: Annotated[int, Field(ge=0, description="of what is confirmed")]
    usage: Annotated[int, Field(ge=0, description="of all projects, with commitments or without")]
    expiring: Annotated[int, Field(ge=0, description="of what is confirmed: ends within `days`, and was not renewed")]
    pending: Amount
    planned: Amount
    commitments: Annotated[int, Field(ge=1, description="how many these are")]
    projects: Annotated[int, Field(ge=0, description="how many have confirmed ones")]
    unit: Unit | None = None
    coverage: Annotated[float, Field(ge=0, le=1, description="share of usage that commitments cover")] | None = None
    waste: Annotated[float, Field(ge=0, le=1, description="share of the confirmed that is not used")] | None = None


@snapshot
def summarize_commitments(limes: Limes, place: Place, selection: Selection, days: int) -> list[ZoneSummary]:
    """Returns what is committed, by resource and AZ, in the order of reports; what ends within
    `days` is counted as expiring. A fixed number of figures. Raises `NotFound`."""
    engine, catalog, now = limes.engine, limes.catalog, limes.now()
    scope, resources = scope_of(engine, place), named_resources(engine, selection)
    pooled = [id_ for id_, named in resources.items() if not catalog.behavior(named.ref).commitment_is_az_aware]
    zoned = [id_ for id_ in resources if id_ not in pooled]
    live: dict[tuple[int, str], dict[str, figures.LiveSum]] = defaultdict(dict)
    for row in figures.live_sums(engine, scope, list(resources), now, now + days * _DAY):
        live[row.resource_id, row.az][row.status] = row
    used = {
        (use.resource_id, use.az): use
        for ids, is_pooled in ((zoned, False), (pooled, True))
        for use in figures.use_sums(engine, scope, ids, now, is_pooled=is_pooled)
    }
    usage = _usage(engine, scope, zoned, pooled)
    positions = {id_: position for position, id_ in enumerate(resources)}
    order = sorted(live, key=lambda key: (positions[key[0]], catalog.az_order(key[1])))
    return [_summary(resources[key[0]], key[1], live[key], used.get(key), usage.get(key, 0)) for key in order]


def _summary(
    named: NamedResource, az: str, live: Mapping[str, figures.LiveSum], used: figures.UseSum | None, usage: int
) -> ZoneSummary:
    """`usage` is of all AZs together where commitments are for these."""
    confirmed, pending, planned = (live.get(status) for status in (Status.CONFIRMED, Status.PENDING, Status.PLANNED))
    amount = confirmed.amount if confirmed else 0
    in_use = used.used if used else 0
    return ZoneSummary(
        service_type=named.ref[0],
        resource_name=named.ref[1],
        availability_zone=az,
        committed=amount,
        used=in_use,
        unused=amount - in_use,
        usage=usage,
        expiring=confirmed.expiring if confirmed else 0,
        pending=pending.amount if pending else 0,
        planned=planned.amount if planned else 0,
        commitments=sum(each.number for each in live.values()),
        projects=used.projects if used else 0,
        unit=named.unit.value or None,
        coverage=round(in_use / usage, 4) if usage else None,
        waste=round((amount - in_use) / amount, 4) if amount else None,
    )


def _usage(engine: Engine, scope: Scope, zoned: Sequence[int], pooled: Sequence[int]) -> dict[tuple[int, str], int]:
    among = project_sums.Among(
        "project" if scope.level == "project" else "domain", None if scope == CLUSTER else [scope.id]
    )
    in_azs = stored_sums.az_usage_sums(engine, zoned, scope.level, among)
    overall = stored_sums.resource_sums(engine, pooled, scope.level, among)
    usage = {(resource, az): int(total.usage) for (_, resource, az), total in in_azs.items()}
    return usage | {(row.resource_id, ANY_AZ): int(row.usage) for row in overall}
