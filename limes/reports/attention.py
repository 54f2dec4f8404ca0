"""What needs attention in the cluster, a domain or a project: failing scrapes, quotas that are nearly used up,
commitments that end soon; and alerts, which are the same and more as one list."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from limes.app.context import Limes
from limes.catalog.catalog import Selection, select
from limes.db.transactions import snapshot
from limes.notifications.alerts import Kind, Severity, UsageThresholds
from limes.projects import queries as projects
from limes.projects import scope as projects_scope
from limes.projects.scope import NamedResource, Place, named_resources, scope_of
from limes.reports import alert_queries as queries
from limes.reports import attention_queries as attention

_DAY = 86400


@snapshot
def read_scrape_status(
    limes: Limes, place: Place
) -> tuple[list[attention.ServiceScrapes], list[attention.CapacitorScrape]]:
    """Capacitors are only reported of the whole cluster: their errors are for operators."""
    scope = scope_of(limes.engine, place)
    capacitors = attention.capacitor_scrapes(limes.engine) if scope == projects_scope.CLUSTER else []
    return attention.service_scrapes(limes.engine, scope), capacitors


@snapshot
def find_fullest(
    limes: Limes, place: Place, selection: Selection, above: int, limit: int
) -> tuple[list[tuple[NamedResource, attention.FullRow]], attention.FullCounts]:
    """What uses more than `above` percent of its quota, the fullest first, and how many there are in all."""
    scope, resources = scope_of(limes.engine, place), named_resources(limes.engine, selection)
    ids, share = list(resources), above / 100
    rows = attention.fullest(limes.engine, scope, ids, share, limit)
    (counts,) = attention.count_full(limes.engine, scope, ids, share)
    return [(resources[row.resource_id], row) for row in rows], counts


@snapshot
def find_ending(
    limes: Limes, place: Place, selection: Selection, days: int, limit: int
) -> tuple[list[tuple[NamedResource, attention.EndingRow]], int]:
    """Commitments that end soon and were not renewed, the first to end first, and how many there are in all."""
    scope, resources = scope_of(limes.engine, place), named_resources(limes.engine, selection)
    ids, now = list(resources), limes.now()
    until = now + days * _DAY
    rows = attention.ending(limes.engine, scope, ids, now, until, limit)
    total = attention.count_ending(limes.engine, scope, ids, now, until)
    return [(resources[row.resource_id], row) for row in rows], total


# -- alerts ------------------------------------------------------------------------------------------------------------

_ALL = 1_000_000
Counts = Counter[tuple[Kind, Severity, str]]
"""Numbers of alerts by kind, severity and service type. The last one is empty for capacitors."""


class Alert(Struct, frozen=True):
    kind: Kind
    severity: Severity
    project: projects_scope.PlacedRow | None = None
    service: str = ""
    resource: NamedResource | None = None
    used: queries.UsedRow | None = None
    threshold: int | None = None
    """The percentage that usage exceeds; None above the quota, and for what is only near a threshold."""
    commitment: queries.CommitmentRow | None = None
    temporary: queries.TemporaryAlertRow | None = None
    scrapes: attention.ServiceScrapes | None = None
    capacitor: str = ""
    since: float | None = None

    @property
    def is_near(self) -> bool:
        """Whether it is below its threshold, by less than the hysteresis."""
        return self.used is not None and self.used.level < 0


class _Asked(Struct, frozen=True):
    scope: projects_scope.Scope
    selection: Selection
    resources: Mapping[int, NamedResource]
    now: float


@snapshot
def find_alerts(limes: Limes, place: Place, selection: Selection, limit: int) -> tuple[list[Alert], Counts]:
    """Returns at most `limit` alerts, the critical ones first, and how many there are in all. Raises `NotFound`."""
    asked = _asked(limes, place, selection)
    scrapes = list(_scrapes(limes, asked))
    return _rows(limes, asked, scrapes, limit)[:limit], _count_of(limes, asked, scrapes)


@snapshot
def find_all_alerts(limes: Limes, hysteresis: int) -> list[Alert]:
    """Returns all alerts of the cluster, and the uses of quota that are near a warning, in percent of the quota.
    Reads each table once."""
    asked = _asked(limes, Place(), select(limes.catalog))
    return _rows(limes, asked, list(_scrapes(limes, asked)), _ALL, hysteresis)


@snapshot
def count_alerts(limes: Limes, selection: Selection) -> Counts:
    asked = _asked(limes, Place(), selection)
    return _count_of(limes, asked, list(_scrapes(limes, asked)))


def _rows(limes: Limes, asked: _Asked, scrapes: Sequence[Alert], limit: int, hysteresis: int = 0) -> list[Alert]:
    rows = [
        *scrapes,
        *_quotas(limes, asked, limit, hysteresis),
        *_commitments(limes, asked, limit),
        *_temporary(limes, asked, limit),
    ]
    order = {kind: number for number, kind in enumerate(Kind)}
    rows.sort(key=lambda alert: (alert.severity is not Severity.CRITICAL, order[alert.kind]))  # keeps the rest
    return rows


def _asked(limes: Limes, place: Place, selection: Selection) -> _Asked:
    resources = named_resources(limes.engine, selection)
    return _Asked(scope_of(limes.engine, place), selection, resources, limes.now())


def _count_of(limes: Limes, asked: _Asked, scrapes: Sequence[Alert]) -> Counts:
    counts: Counts = Counter((alert.kind, alert.severity, alert.service) for alert in scrapes)
    critical, warning = Severity.CRITICAL, Severity.WARNING
    for thresholds, ids in _by_thresholds(limes, asked).items():
        for used in queries.count_used(limes.engine, asked.scope, ids, _shares(thresholds)):
            service = asked.resources[used.resource_id].ref[0]
            counts[Kind.USAGE_ABOVE_QUOTA, critical, service] += used.above_quota
            counts[Kind.QUOTA_USED, critical, service] += used.above_critical - used.above_quota
            counts[Kind.QUOTA_USED, warning, service] += used.above_warning - used.above_critical
    times = queries.Times.of(limes.settings.alerts, asked.now)
    for row in queries.count_commitments(limes.engine, asked.scope, list(asked.resources), times):
        service = asked.resources[row.resource_id].ref[0]
        counts[Kind.COMMITMENT_UNCONFIRMED, critical, service] += row.unconfirmed
        counts[Kind.AUTO_RENEWAL_FAILED, critical, service] += row.renewal_failed
        counts[Kind.COMMITMENT_EXPIRES, critical, service] += row.expiring_critical
        counts[Kind.COMMITMENT_EXPIRES, warning, service] += row.expiring - row.expiring_critical
    ids, lead = list(asked.resources), limes.settings.alerts.temporary_quota_ends
    for each in queries.count_temporary_alerts(limes.engine, asked.scope, ids, lead, asked.now):
        counts[Kind(each.kind), warning, asked.resources[each.resource_id].ref[0]] += each.number
    return counts


# -- quotas and commitments ----------------------------------------------------------------------------------------


def _by_thresholds(limes: Limes, asked: _Asked) -> dict[UsageThresholds, list[int]]:
    groups: dict[UsageThresholds, list[int]] = {}
    for id_, named in asked.resources.items():
        grows = limes.catalog.autogrow(named.ref) is not None
        groups.setdefault(limes.settings.alerts.usage_thresholds(named.ref, grows=grows), []).append(id_)
    return groups


def _quotas(limes: Limes, asked: _Asked, limit: int, hysteresis: int) -> list[Alert]:
    found = []
    for thresholds, ids in _by_thresholds(limes, asked).items():
        shares = _shares(thresholds, hysteresis)
        found += [(row, thresholds) for row in queries.most_used(limes.engine, asked.scope, ids, shares, limit)]
    found.sort(key=lambda each: -_share(each[0]))
    return [_quota_alert(row, thresholds, asked.resources[row.resource_id]) for row, thresholds in found]


def _commitments(limes: Limes, asked: _Asked, limit: int) -> Iterator[Alert]:
    ids, times = list(asked.resources), queries.Times.of(limes.settings.alerts, asked.now)
    for row in queries.commitments(limes.engine, asked.scope, ids, times, limit):
        named = asked.resources[row.commitment.resource_id]
        severity = Severity.CRITICAL if row.is_critical else Severity.WARNING
        yield Alert(Kind(row.kind), severity, row.commitment.project, named.ref[0], named, commitment=row)


def _temporary(limes: Limes, asked: _Asked, limit: int) -> Iterator[Alert]:
    ids, lead = list(asked.resources), limes.settings.alerts.temporary_quota_ends
    for row in queries.temporary_alerts(limes.engine, asked.scope, ids, lead, asked.now, limit):
        named, kind = asked.resources[row.resource_id], Kind(row.kind)
        project = row.place if row.place.uuid else None
        since = {Kind.TEMPORARY_QUOTA_OVER: row.temporary.until, Kind.TEMPORARY_QUOTA_WAITS: row.temporary.starts_at}
        yield Alert(kind, Severity.WARNING, project, named.ref[0], named, temporary=row, since=since.get(kind))


# -- what fails ----------------------------------------------------------------------------------------------------


def _scrapes(limes: Limes, asked: _Asked) -> Iterator[Alert]:
    latest = asked.now - limes.settings.alerts.unreachable_after
    wanted = asked.selection.services
    rows = [row for row in attention.service_scrapes(limes.engine, asked.scope) if row.service_type in wanted]
    outages = _outages(limes, rows, latest)
    for row in rows:
        down_since = row.failing_since if row.failing == row.projects else outages.get(row.service_type)
        if down_since is not None and down_since <= latest:
            kind, severity = Kind.BACKEND_UNREACHABLE, Severity.CRITICAL
            yield Alert(kind, severity, service=row.service_type, scrapes=row, since=down_since)
        elif row.failing_since is not None and row.failing_since <= latest:
            kind, severity = Kind.SCRAPES_FAIL, Severity.WARNING
            yield Alert(kind, severity, service=row.service_type, scrapes=row, since=row.failing_since)
        if row.unwritten:
            yield Alert(Kind.QUOTA_NOT_WRITTEN, Severity.WARNING, service=row.service_type, scrapes=row)
    if asked.scope == projects_scope.CLUSTER:
        yield from _capacitors(limes, asked, latest)


def _capacitors(limes: Limes, asked: _Asked, latest: float) -> Iterator[Alert]:
    warning = Severity.WARNING
    for each in attention.capacitor_scrapes(limes.engine):
        if each.error and (each.scraped_at is None or each.scraped_at <= latest):
            yield Alert(Kind.CAPACITY_UNREACHABLE, warning, capacitor=each.name, since=each.scraped_at)
    for id_, capacitor, at in attention.capacity_drops(limes.engine):
        if named := asked.resources.get(id_):
            service = named.ref[0]
            yield Alert(Kind.CAPACITY_DROP, warning, None, service, named, capacitor=capacitor, since=at)


def _outages(limes: Limes, rows: Sequence[attention.ServiceScrapes], latest: float) -> dict[str, float]:
    """Returns since when services fail as a whole. While a circuit is open, most projects are not tried and none
    of them fails by itself, so this looks beyond the scope; but only where no scrape has succeeded for so long."""
    doubtful = [row.service_type for row in rows if row.newest is None or row.newest <= latest]
    return projects.outages(limes.engine, doubtful, limes.settings.circuit_breaker.failures)


def _quota_alert(row: queries.UsedRow, thresholds: UsageThresholds, named: NamedResource) -> Alert:
    kind = Kind.USAGE_ABOVE_QUOTA if row.level == 2 else Kind.QUOTA_USED
    severity = Severity.CRITICAL if row.level > 0 else Severity.WARNING
    threshold = {0: thresholds.warning, 1: thresholds.critical}.get(row.level)
    return Alert(kind, severity, row.project, named.ref[0], named, used=row, threshold=threshold)


def _shares(thresholds: UsageThresholds, hysteresis: int = 0) -> queries.Shares:
    return queries.Shares(thresholds.nearly(hysteresis) / 100, thresholds.warning / 100, thresholds.critical / 100)


def _share(row: queries.UsedRow) -> float:
    return row.usage / row.quota if row.quota else float("inf")
