"""Whether both sides have the same: counts and sums, by service and resource, read from each database anew."""

from collections.abc import Callable, Collection, Mapping

from limes.core.catalog import Ref
from limes.db.engine import Engine, Row
from limes.importer.layout import Layout
from limes.importer.source import Source

Figures = Mapping[tuple[str, ...], tuple[int | None, ...]]
"""Numbers by what they are of: `(service, resource, az)` or a part of that."""

_BACKEND = "CASE WHEN backend_quota < 0 THEN -1 ELSE backend_quota END"
_SUMS = {
    "projects": (0, "COUNT(*), COUNT(DISTINCT domain)"),
    "capacity": (3, "SUM(raw_capacity), SUM(usage)"),
    "domain_quotas": (2, "SUM(quota)"),
    "quotas": (2, f"COUNT(*), COALESCE(SUM(quota), 0), COALESCE(SUM({_BACKEND}), 0)"),
    "usages": (3, "COUNT(*), SUM(usage), SUM(physical_usage)"),
    "commitments": (3, "COUNT(*), SUM(amount), COUNT(confirmed_at), COUNT(superseded_at)"),
}
"""How each kind of rows is summed up: by how many of service, resource and AZ, and what."""
_KEYS = ("service", "resource", "az")
_NAMES = {
    "projects": "projects and their domains",
    "capacity": "capacity and its usage",
    "domain_quotas": "quota of domains",
    "quotas": "projects with a quota, their quota, and the backends'",
    "usages": "entries of usage, usage, and physical usage",
    "commitments": "commitments, their amount, and how many were confirmed and superseded",
}

_OURS = {
    "projects": "SELECT p.uuid, d.uuid AS domain FROM projects p JOIN domains d ON d.id = p.domain_id",
    "capacity": "SELECT s.type AS service, r.name AS resource, a.az, a.raw_capacity, a.usage FROM az_resources a"
    " JOIN resources r ON r.id = a.resource_id JOIN services s ON s.id = r.service_id",
    "domain_quotas": "SELECT s.type AS service, r.name AS resource, q.quota FROM domain_resources q"
    " JOIN resources r ON r.id = q.resource_id JOIN services s ON s.id = r.service_id WHERE q.quota > 0",
    "quotas": "SELECT s.type AS service, r.name AS resource, q.quota, q.backend_quota FROM project_resources q"
    " JOIN resources r ON r.id = q.resource_id JOIN services s ON s.id = r.service_id",
    "usages": "SELECT s.type AS service, r.name AS resource, u.az, u.usage, u.physical_usage"
    " FROM project_az_resources u JOIN resources r ON r.id = u.resource_id JOIN services s ON s.id = r.service_id",
    "commitments": "SELECT s.type AS service, r.name AS resource, c.az, c.amount, c.confirmed_at, c.superseded_at"
    " FROM project_commitments c JOIN resources r ON r.id = c.resource_id JOIN services s ON s.id = r.service_id",
}


def differences(source: Source, ours: Engine, refs: Collection[Ref]) -> list[str]:
    """A line for each figure that differs. What is not one of our resources (`refs`) does not count."""
    known = set(refs)
    found = []
    for kind, name in _NAMES.items():
        there = _figures(source.rows, kind, _theirs(source.layout, kind), known)
        here = _figures(ours.rows, kind, _OURS[kind], known)
        for key in sorted(there.keys() | here.keys()):
            one, other = there.get(key), here.get(key)
            if one != other:
                found.append(f"{name}, {'/'.join(key) or 'all'}: {_text(one)} there, {_text(other)} here")
    return found


def _theirs(layout: Layout, kind: str) -> str:
    sql: str = getattr(layout, kind)
    return f"SELECT * FROM ({sql}) y WHERE quota > 0" if kind == "domain_quotas" else sql


def _figures(rows: Callable[[str], list[Row]], kind: str, sql: str, known: Collection[Ref]) -> Figures:
    depth, sums = _SUMS[kind]
    keys = ", ".join(_KEYS[:depth])
    grouped = f"SELECT {f'{keys}, ' if keys else ''}{sums} FROM ({sql}) x" + (f" GROUP BY {keys}" if keys else "")
    found = {}
    for row in rows(grouped):
        key = tuple(map(str, row[:depth]))
        if not key or key[:2] in known:
            found[key] = tuple(None if value is None else int(value) for value in row[depth:])
    return found


def _text(values: tuple[int | None, ...] | None) -> str:
    return "nothing" if values is None else ", ".join("-" if value is None else str(value) for value in values)
