"""What a scrape stores of one service of one project: usage, quota, and how it went. Few statements, and only changes.

The order of locks is that of all transactions: `project_resources` before `project_services`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders


class ResourceRow(NamedTuple):
    """A project's resource. Quota, and the backend's (stored form, see `limes.core.quota`); totals over all AZs."""

    quota: int | None
    backend_quota: int | None
    usage: int
    physical_usage: int | None
    min_backend_quota: int | None = None
    max_backend_quota: int | None = None
    """What the backend accepts, where it says so."""


class AZRow(NamedTuple):
    """Usage in one AZ. `subresources` is a JSON list, or empty."""

    usage: int
    physical_usage: int | None
    subresources: str


AZRows = Mapping[tuple[int, str], AZRow]
"""By resource id and AZ."""


class Figures(NamedTuple):
    """All that is stored of the resources of one service in one project."""

    resources: Mapping[int, ResourceRow]
    azs: AZRows


class Outcome(NamedTuple):
    """What to write of a scrape that has succeeded. Times in seconds since the epoch."""

    now: float
    next_scrape_at: float
    duration: float
    in_sync: bool
    """Whether the backend's quota is the wanted one."""
    mark_at: float | None = None
    """A desync mark to make if there is none."""


class ServiceState(NamedTuple):
    """What is known of the quota in the backend, after the outcome was written."""

    quota_desynced_at: float | None
    drifted_at: float | None
    pushed_at: float | None


def lock_figures(engine: Engine, project_id: int, resources: Collection[int]) -> Figures:
    """The stored figures. Until the transaction ends, nobody else changes them."""
    if not resources:
        return Figures({}, {})
    of_table = " FOR UPDATE OF pr" if engine.for_update else ""
    rows = engine.rows(
        f"""
        SELECT pr.resource_id, pr.quota, pr.backend_quota, pr.usage, pr.physical_usage,
               pr.min_backend_quota, pr.max_backend_quota,
               az.az, az.usage, az.physical_usage, az.subresources
          FROM project_resources pr LEFT JOIN project_az_resources az
            ON az.project_id = pr.project_id AND az.resource_id = pr.resource_id
         WHERE pr.project_id = %s AND pr.resource_id IN ({placeholders(len(resources))})
         ORDER BY pr.resource_id{of_table}
        """,
        [project_id, *resources],
    )
    return Figures(
        {row[0]: ResourceRow._make(row[1:7]) for row in rows},
        {(row[0], row[7]): AZRow._make(row[8:]) for row in rows if row[7] is not None},
    )


def record_success(
    engine: Engine, id_: int, lease: float, outcome: Outcome, seen_mark: float | None, scrape_state: str | None = None
) -> ServiceState | None:
    """Says that a scrape has succeeded, and ends its claim. None if the claim is lost: then nothing is written.

    `seen_mark` is the desync mark at the time of the claim. It is taken away if the backend is in sync now; one that
    was made after the claim stays: the report may be older than the change that it stands for. A `scrape_state` of None
    stays as it is.
    """
    changes = ""
    values: list[float | str | None] = []
    if outcome.mark_at is not None:
        changes = ", quota_desynced_at = COALESCE(quota_desynced_at, %s), next_push_at = COALESCE(next_push_at, %s)"
        values = [outcome.mark_at] * 2
    elif outcome.in_sync and seen_mark is None:
        changes = ", drifted_at = CASE WHEN quota_desynced_at IS NULL THEN NULL ELSE drifted_at END"
    elif outcome.in_sync:
        synced = "CASE WHEN COALESCE(quota_desynced_at, %s) = %s THEN"
        changes = (
            f", next_push_at = {synced} NULL ELSE next_push_at END, drifted_at = {synced} NULL ELSE drifted_at END,"
            f" push_failures = {synced} 0 ELSE push_failures END, push_error = {synced} '' ELSE push_error END,"
            f" quota_desynced_at = {synced} NULL ELSE quota_desynced_at END"
        )
        values = [seen_mark] * 10
    if scrape_state is not None:
        changes += ", scrape_state = %s"
        values.append(scrape_state)
    found = engine.rows(
        "UPDATE project_services SET scraped_at = %s, checked_at = %s, next_scrape_at = %s, scrape_duration = %s,"
        f" scrape_error = '', scrape_failures = 0, failing_since = NULL, scrape_claimed_until = NULL{changes}"
        " WHERE id = %s AND scrape_claimed_until = %s RETURNING quota_desynced_at, drifted_at, pushed_at",
        [outcome.now, outcome.now, outcome.next_scrape_at, outcome.duration, *values, id_, lease],
    )
    return ServiceState._make(found[0]) if found else None


def set_drift(engine: Engine, id_: int, since: float) -> None:
    """Says since when the backend enforces another quota than it was told."""
    engine.execute("UPDATE project_services SET drifted_at = %s WHERE id = %s", [since, id_])


def lock_claim(engine: Engine, id_: int, lease: float) -> int | None:
    """How many scrapes have failed in a row, of the locked row; None if the claim is lost."""
    row = engine.row(
        f"SELECT scrape_failures FROM project_services WHERE id = %s AND scrape_claimed_until = %s{engine.for_update}",
        [id_, lease],
    )
    return None if row is None else int(row[0])


def record_failure(engine: Engine, id_: int, now: float, next_scrape_at: float, failures: int, error: str) -> None:
    """Says that a scrape has failed. The figures of the last success stay."""
    # the time of a row without an error is left over: the previous release does not clear it
    since = "CASE WHEN scrape_error = '' OR failing_since IS NULL THEN %s ELSE failing_since END"
    engine.execute(
        f"UPDATE project_services SET checked_at = %s, next_scrape_at = %s, failing_since = {since}, scrape_error = %s,"
        " scrape_failures = %s, scrape_claimed_until = NULL WHERE id = %s",
        [now, next_scrape_at, now, error, failures, id_],
    )


def write_figures(engine: Engine, project_id: int, stored: Figures, present: Figures) -> None:
    """Makes the rows of the resources in `present` what that says: at most three statements, and none for what is the
    same. All figures of these resources have to be in `stored`, which is locked."""
    _write_resources(
        engine, project_id, [row for row in present.resources.items() if row not in stored.resources.items()]
    )
    gone = [key for key in stored.azs if key[0] in present.resources and key not in present.azs]
    if gone:
        engine.execute(
            "DELETE FROM project_az_resources WHERE project_id = %s AND (resource_id, az) IN (VALUES "
            + ", ".join(["(%s, %s)"] * len(gone))
            + ")",
            [project_id, *(value for key in gone for value in key)],
        )
    _write_azs(engine, project_id, [row for row in present.azs.items() if row not in stored.azs.items()])


def less_used(stored: Figures, present: Figures) -> set[int]:
    """Of which resources less is used than before, in any of the AZs."""
    return {
        place[0]
        for place, row in stored.azs.items()
        if place[0] in present.resources and (place not in present.azs or present.azs[place].usage < row.usage)
    }


def _write_resources(engine: Engine, project_id: int, rows: Sequence[tuple[int, ResourceRow]]) -> None:
    if rows:
        engine.execute(
            "INSERT INTO project_resources"
            f" (project_id, resource_id, {', '.join(ResourceRow._fields)}) VALUES "
            + ", ".join([f"({placeholders(2 + len(ResourceRow._fields))})"] * len(rows))
            + " ON CONFLICT (project_id, resource_id) DO UPDATE SET "
            + ", ".join(f"{column} = excluded.{column}" for column in ResourceRow._fields),
            [value for resource, row in sorted(rows) for value in (project_id, resource, *row)],
        )


def _write_azs(engine: Engine, project_id: int, rows: Sequence[tuple[tuple[int, str], AZRow]]) -> None:
    if rows:
        engine.execute(
            "INSERT INTO project_az_resources"
            " (project_id, resource_id, az, usage, physical_usage, subresources) VALUES "
            + ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(rows))
            + " ON CONFLICT (project_id, resource_id, az) DO UPDATE SET usage = excluded.usage,"
            " physical_usage = excluded.physical_usage, subresources = excluded.subresources",
            [value for key, row in sorted(rows, key=lambda item: item[0]) for value in (project_id, *key, *row)],
        )
