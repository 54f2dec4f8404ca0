"""Figures of single projects as metrics. What has not changed since the last reading is not made again.

A block has the lines of one family about a few projects that follow each other. It is kept together with a digest of
all that it was made of: the names of these projects, and their rows as this snapshot has them. So whatever has changed,
and whoever has changed it, a reading shows what a new process would show.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import lru_cache
from hashlib import blake2b
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from limes.db.engine import Engine
from limes.projects.scope import PlacedRow
from limes.reports import collector_state as queries
from limes.reports.data_figures import STATES, json_objects, labels, project_labels
from limes.web.packed import Block, pack

_GROUP = 16
"""How many ids of projects share blocks: more of them are compressed better, and fewer are made again for others."""
_COLUMNS = ("limes_project_quota", "limes_project_backendquota", "limes_project_usage", "limes_project_physical_usage")
FAMILIES = (
    *_COLUMNS,
    "limes_project_usage_per_az",
    "limes_project_committed_per_az",
    "limes_project_used_and_or_committed_per_az",
    "limes_project_commitment_min_expires_at",
    "limes_instance_counts",
    "limes_swift_objects_per_container",
    "limes_swift_size_bytes_per_container",
)

LISTED = {"compute": "instances", "object-store": "containers"}
"""By plugin: the resource whose subresources are shown."""

_Row = tuple[Any, ...]
_Item = tuple[int, int, _Row]
"""Project, kind, and a row."""
_RESOURCES, _AZS, _COMMITMENTS, _SERVERS, _CONTAINERS = range(5)


class Scope(NamedTuple):
    """What is shown, in the words of one snapshot."""

    projects: Mapping[int, PlacedRow]
    resources: Mapping[int, str]
    """Their labels."""
    servers: Collection[int]
    """Resources whose subresources are servers."""
    containers: Collection[int]


class ProjectFigures:
    """For one reading at a time. `skip_zero` leaves out those that are 0."""

    def __init__(self, *, skip_zero: bool = False) -> None:
        self._skip_zero = skip_zero
        self._kept: dict[int, tuple[bytes, Mapping[str, Block]]] = {}
        """Digest and blocks, by group."""

    def read(self, engine: Engine, scope: Scope) -> dict[str, list[Block]]:
        """Returns the blocks of each family. To be called in a snapshot."""
        common = blake2b(repr(scope[1:]).encode(), digest_size=16)
        kept, blocks = {}, defaultdict(list)
        with closing(_rows(engine, scope)) as items:
            for number, group in groupby(items, lambda item: item[0] // _GROUP):
                rows = list(group)
                names = {id_: tuple(scope.projects[id_]) for id_, *_ in rows}
                digest = common.copy()
                digest.update(repr((names, rows)).encode())
                found = self._kept.get(number)
                if found is None or found[0] != digest.digest():
                    found = (digest.digest(), self._render(scope, rows))
                kept[number] = found
                for name, block in found[1].items():
                    blocks[name].append(block)
        self._kept = kept
        return blocks

    def _render(self, scope: Scope, rows: Iterable[_Item]) -> dict[str, Block]:
        lines = _Lines(scope.resources, self._skip_zero)
        for id_, of_project in groupby(rows, itemgetter(0)):
            by_kind: dict[int, list[_Row]] = defaultdict(list)
            for _, kind, row in of_project:
                by_kind[kind].append(row[1:])
            lines.add(scope.projects[id_], by_kind)
        return {name: pack("".join(of_family).encode()) for name, of_family in lines.by_family.items() if of_family}


def _rows(engine: Engine, scope: Scope) -> Generator[_Item, None, None]:
    """Yields them in the order of projects and kinds."""
    sources: list[Generator[_Row, None, None]] = [
        queries.project_figures(engine),
        queries.project_az_usage(engine),
        queries.project_commitments(engine),
        queries.subresources(engine, scope.servers),
        queries.subresources(engine, scope.containers),
    ]
    with ExitStack() as stack:
        rows = [stack.enter_context(closing(source)) for source in sources]
        yield from merge(*map(_of_kind, range(len(rows)), rows), key=itemgetter(0, 1))


def _of_kind(kind: int, rows: Iterable[_Row]) -> Iterator[_Item]:
    return ((row[0], kind, row) for row in rows)


class _Lines:
    """The lines of some projects."""

    def __init__(self, resources: Mapping[int, str], skip_zero: bool) -> None:
        self.by_family: dict[str, list[str]] = defaultdict(list)
        self._resources = resources
        self._skip_zero = skip_zero

    def add(self, row: PlacedRow, rows: Mapping[int, list[_Row]]) -> None:
        project = project_labels(row)
        for texts in rows[_RESOURCES]:
            self._add_columns(project, *map(orjson.loads, texts))
        usage = [place for texts in rows[_AZS] for place in zip(*map(orjson.loads, texts), strict=True)]
        self._add_usage(project, "limes_project_usage_per_az", usage)
        commitments = rows[_COMMITMENTS]
        active = {(id_, az): amount for id_, az, status, amount, _ in commitments if status == "confirmed"}
        if active:
            usage = [(id_, az, max(amount, active.pop((id_, az), 0))) for id_, az, amount in usage]
            usage += [(*place, amount) for place, amount in active.items()]
        self._add_usage(project, "limes_project_used_and_or_committed_per_az", usage)
        self._add_commitments(project, commitments)
        ids = labels({"domain_id": row.domain_uuid, "project_id": row.uuid})
        self._add_servers(ids, rows[_SERVERS])
        self._add_containers(ids, rows[_CONTAINERS])

    def _add_columns(self, project: str, ids: list[int], *columns: list[int | None]) -> None:
        resources, skip_zero = self._resources, self._skip_zero
        for name, values in zip(_COLUMNS, columns, strict=True):
            start = f"{name}{{{project},"
            self.by_family[name] += [
                f"{start}{resources[id_]}}} {value}\n"
                for id_, value in zip(ids, values, strict=True)
                if value is not None and (value or not skip_zero) and id_ in resources
            ]

    def _add_usage(self, project: str, name: str, places: Iterable[tuple[int, str, int]]) -> None:
        resources, skip_zero, start = self._resources, self._skip_zero, f"{name}{{"
        self.by_family[name] += [
            f"{start}{_az_label(az)},{project},{resources[id_]}}} {amount}\n"
            for id_, az, amount in places
            if (amount or not skip_zero) and id_ in resources
        ]

    def _add_commitments(self, project: str, rows: Iterable[_Row]) -> None:
        ends: dict[int, float] = {}
        for id_, az, status, amount, end in rows:
            if id_ in self._resources:
                place = f'{_az_label(az)},{project},{self._resources[id_]},state="{STATES[status]}"'
                self._add("limes_project_committed_per_az", place, amount)
                ends[id_] = min(end, ends.get(id_, end))
        for id_, end in ends.items():
            self._add("limes_project_commitment_min_expires_at", f"{project},{self._resources[id_]}", end)

    def _add_servers(self, ids: str, rows: Iterable[_Row]) -> None:
        servers = (entry for (text,) in rows for entry in json_objects(text) if "hypervisor" in entry)
        for kind, count in sorted(Counter(str(entry["hypervisor"]) for entry in servers).items()):
            self._add("limes_instance_counts", f"{ids},{labels({'hypervisor': kind})}", count)

    def _add_containers(self, ids: str, rows: Iterable[_Row]) -> None:
        for entry in (entry for (text,) in rows for entry in json_objects(text)):
            place = f"{ids},{labels({'container_name': str(entry.get('name'))})}"
            for attribute in ("objects", "size_bytes"):
                if attribute in entry:
                    self._add(f"limes_swift_{attribute}_per_container", place, entry[attribute])

    def _add(self, name: str, inside: str, value: float) -> None:
        self.by_family[name].append(f"{name}{{{inside}}} {value}\n")


@lru_cache
def _az_label(az: str) -> str:
    return labels({"availability_zone": az})
