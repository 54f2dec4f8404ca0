"""Placement's data set: compute nodes of five providers each, with their servers' allocations, made inside PostgreSQL.

A node has two NUMA cells with a network card below each. Sixteen servers run on it, and use three or four classes
each: fifty allocations a node. Every fifth node has no processor left. A hundred nodes are an aggregate, and projects
have 160 servers each, so that there are more of both in a larger cloud. The large project has one server of each node.
Twenty nodes have a class that no others have.
"""

from dataclasses import dataclass

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare as add_standard_names

PROVIDERS_PER_TREE = 5
SERVERS_PER_TREE = 16
SERVERS_PER_PROJECT = 160
NODES_PER_AGGREGATE = 100
RARE_CLASS, NODES_WITH_RARE_CLASS = "CUSTOM_RARE", 20
FULL_EVERY = 5
"""Nodes without a free processor: those whose number is one less than a multiple of this."""
LARGE_PROJECT = "large-project"

_ROOT, _CELLS, _CARDS = 1, (2, 3), (4, 5)
_STAMP = "pg_current_xact_id()::text::bigint"


_TREES = 2000
AGGREGATES = _TREES // NODES_PER_AGGREGATE
"""Of the smallest cloud."""


@dataclass(frozen=True)
class Size:
    """How many trees there are."""

    trees: int = _TREES

    def times(self, factor: int) -> "Size":
        """So many times as much."""
        return Size(self.trees * factor)

    @property
    def providers(self) -> int:
        """How many providers there are in all trees."""
        return self.trees * PROVIDERS_PER_TREE

    @property
    def projects(self) -> int:
        """How many projects of the same size there are."""
        return self.trees * SERVERS_PER_TREE // SERVERS_PER_PROJECT


def provider_id(tree: int, place: int) -> int:
    """The id of a provider: trees are numbered from 0, places in them from 1, which is the root."""
    return tree * PROVIDERS_PER_TREE + place


def provider_uuid(tree: int, place: int) -> str:
    """The UUID of a provider."""
    return f"a0000000-0000-4000-8000-{provider_id(tree, place):012d}"


def aggregate_uuid(tree: int) -> str:
    """The UUID of the aggregate that a tree's root is a member of."""
    return f"c0000000-0000-4000-8000-{tree // NODES_PER_AGGREGATE:012d}"


def server_uuid(number: int) -> str:
    """The UUID of a server, from 0; the first sixteen are on the first node."""
    return f"b0000000-0000-4000-8000-{number + 1:012d}"


def project_id(number: int) -> str:
    """The id of a project, from 0."""
    return f"project-{number}"


def prepare(database_url: str, size: Size) -> None:
    """Migrates and loads."""
    engine = Engine(database_url, statement_timeout=3600)
    placement_migrations.upgrade(engine)
    add_standard_names(engine, SystemClock())
    engine.atomic(lambda: _load(engine, size))
    with engine.connection():  # what PostgreSQL does by itself, where autovacuum is on
        engine.db.execute_sql("VACUUM ANALYZE")
    engine.close()


def _load(engine: Engine, size: Size) -> None:
    _load_providers(engine, size)
    engine.execute("INSERT INTO placement_resource_classes (name, updated) VALUES (%s, 1.7e9)", [RARE_CLASS])
    classes = {
        name: key
        for key, name in engine.rows(
            "SELECT id, name FROM placement_resource_classes"
            " WHERE name IN ('VCPU', 'MEMORY_MB', 'DISK_GB', 'SRIOV_NET_VF', 'CUSTOM_RARE')"
        )
    }
    _load_inventories(engine, size, classes)
    _load_allocations(engine, size, classes)
    for table in ("placement_providers", "placement_consumers"):
        engine.rows(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 10000000)")


def _load_providers(engine: Engine, size: Size) -> None:
    for place in (_ROOT, *_CELLS, *_CARDS):
        above = {_ROOT: None, **dict.fromkeys(_CELLS, _ROOT), **dict(zip(_CARDS, _CELLS, strict=True))}[place]
        engine.execute(
            "INSERT INTO placement_providers (id, uuid, name, generation, root_id, parent_id, updated, changed)"
            " SELECT t * 5 + %s, 'a0000000-0000-4000-8000-' || lpad((t * 5 + %s)::text, 12, '0'),"
            f" 'node-' || t || '.region-one.cloud.example/' || %s, 16, t * 5 + 1, t * 5 + %s, 1.7e9, {_STAMP}"
            " FROM generate_series(0, %s) t",
            [place, place, place, above, size.trees - 1],
        )
    for name, places in (
        ("HW_CPU_X86_AVX2", (_ROOT,)),
        ("COMPUTE_NODE", (_ROOT,)),
        ("HW_NUMA_ROOT", _CELLS),
        ("HW_NIC_SRIOV", _CARDS),
    ):
        engine.execute(
            "INSERT INTO placement_provider_traits (provider_id, trait_id)"
            " SELECT t * 5 + place, traits.id FROM generate_series(0, %s) t, unnest(%s) place, placement_traits traits"
            " WHERE traits.name = %s",
            [size.trees - 1, list(places), name],
        )
    engine.execute(
        "INSERT INTO placement_provider_aggregates (provider_id, aggregate_uuid)"
        " SELECT t * 5 + 1, 'c0000000-0000-4000-8000-' || lpad((t / %s)::text, 12, '0') FROM generate_series(0, %s) t",
        [NODES_PER_AGGREGATE, size.trees - 1],
    )


def _load_inventories(engine: Engine, size: Size, classes: dict[str, int]) -> None:
    """The cells of every fifth node have just the processors that its servers use."""
    for name, places, total, every in (
        ("DISK_GB", (_ROOT,), "20000", 1),
        ("VCPU", _CELLS, "CASE WHEN t %% 5 = 4 THEN 64 ELSE 128 END", 1),
        ("MEMORY_MB", _CELLS, "262144", 1),
        ("SRIOV_NET_VF", _CARDS, "8", 1),
        (RARE_CLASS, (_ROOT,), "1", size.trees // NODES_WITH_RARE_CLASS),
    ):
        engine.execute(
            "INSERT INTO placement_inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size,"
            f" allocation_ratio, updated) SELECT t * 5 + place, %s, {total}, 0, 1, {total}, 1, 1.0, 1.7e9"
            " FROM generate_series(0, %s) t, unnest(%s) place WHERE t %% %s = 0",
            [classes[name], size.trees - 1, list(places), every],
        )


def _load_allocations(engine: Engine, size: Size, classes: dict[str, int]) -> None:
    """Servers take a cell of their node in turn; the first two of a node have a network card."""
    servers = size.trees * SERVERS_PER_TREE
    engine.execute(
        "INSERT INTO placement_consumers (id, uuid, generation, project_id, user_id, consumer_type, updated)"
        " SELECT n + 1, 'b0000000-0000-4000-8000-' || lpad((n + 1)::text, 12, '0'), 1,"
        " CASE WHEN n %% 16 = 0 THEN %s ELSE 'project-' || n %% %s END, 'user', 'INSTANCE', 1.7e9"
        " FROM generate_series(0, %s) n",
        [LARGE_PROJECT, size.projects, servers - 1],
    )
    for name, place, amount, of_node in (
        ("VCPU", "2 + n %% 2", 8, 16),
        ("MEMORY_MB", "2 + n %% 2", 16384, 16),
        ("DISK_GB", "1", 100, 16),
        ("SRIOV_NET_VF", "4 + n %% 2", 1, 2),
    ):
        engine.execute(
            "INSERT INTO placement_allocations (consumer_id, provider_id, class_id, used, updated)"
            f" SELECT n + 1, n / 16 * 5 + {place}, %s, %s, 1.7e9 FROM generate_series(0, %s) n WHERE n %% 16 < %s",
            [classes[name], amount, servers - 1, of_node],
        )
