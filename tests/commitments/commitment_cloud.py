"""The cloud in which commitments live at random: the use cases on a real database, and what is stored there."""

from collections import defaultdict

from msgspec import structs

from limes.catalog.catalog import BehaviorRule
from limes.catalog.queries import resource_ids
from limes.commitments import queries
from limes.commitments.commitment import Commitment
from limes.commitments.rules import CommitmentRules
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS, World
from tests.support.clock import FrozenClock

CORES, VOLUME = ("compute", "cores"), ("volume", "capacity")
WORTH = {CORES: 2, VOLUME: 3}
"""How much one unit counts: what is converted keeps its worth."""
RULES = CommitmentRules(conversions=(WORTH,), self_delete_grace=1800, renewal_window=86400 * 400)
BEHAVIORS = [
    BehaviorRule(resource=name, commitment_durations=("1 hour", "1 year"), commitment_is_az_aware=True)
    for name in ("compute/cores", "volume/capacity")
]
PROJECTS = {1: (GERMANY, BERLIN), 2: (GERMANY, DRESDEN), 3: (FRANCE, PARIS)}
AZS = ("az-one", "az-two")
UNKNOWN = ("any", "unknown")
"""Where usage may be reported, too."""


class Cloud:
    """The database of `world`, with no commitments in it, and the use cases with a clock of their own."""

    def __init__(self, world: World) -> None:
        self.engine, self.clock = world.engine, FrozenClock()
        settings = world.limes.settings.model_copy(update={"commitments": RULES})
        self.limes = structs.replace(world.limes, clock=self.clock, settings=settings)
        self.engine.atomic(self._clean)
        self.ids = resource_ids(self.engine)

    def _clean(self) -> None:
        for table in ("project_commitments", "project_az_resources", "az_resources"):
            self.engine.execute(f"DELETE FROM {table}")
        for ref in (CORES, VOLUME):
            for project in PROJECTS:
                self.engine.execute(
                    "INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)"
                    " SELECT %s, r.id, 0, 0, 0 FROM resources r WHERE r.name = %s ON CONFLICT DO NOTHING",
                    [project, ref[1]],
                )
            for az in AZS:
                self.engine.execute(
                    "INSERT INTO az_resources (resource_id, az, raw_capacity, subcapacities)"
                    " SELECT id, %s, 30, '[]' FROM resources WHERE name = %s",
                    [az, ref[1]],
                )

    @property
    def now(self) -> int:
        """Seconds since the epoch."""
        return int(self.limes.now())

    def stored(self) -> dict[int, Commitment]:
        """All commitments, by number."""

        def read() -> dict[int, Commitment]:
            return {
                commitment.id: commitment
                for project in PROJECTS
                for commitment in queries.of_project(self.engine, project)
            }

        return self.engine.snapshot(read)

    def figures(self) -> dict[int, tuple[dict[str, int], dict[tuple[str, int], int]]]:
        """By resource: capacity by AZ, and usage by AZ and project."""
        usage: defaultdict[int, dict[tuple[str, int], int]] = defaultdict(dict)
        capacity: defaultdict[int, dict[str, int]] = defaultdict(dict)
        with self.engine.connection():
            for resource, az, project, used in self.engine.rows(
                "SELECT resource_id, az, project_id, usage FROM project_az_resources"
            ):
                usage[resource][az, project] = used
            for resource, az, amount in self.engine.rows("SELECT resource_id, az, raw_capacity FROM az_resources"):
                capacity[resource][az] = amount
        return {resource: (by_az, usage[resource]) for resource, by_az in capacity.items()}

    def last_event(self) -> int:
        """The number of the last change."""
        with self.engine.connection():
            return self.engine.rows("SELECT last FROM commitment_event_counter")[0][0]

    def worth(self, commitments: dict[int, Commitment]) -> int:
        """What those that live are worth together."""
        return sum(
            WORTH[self.ref_of(commitment)] * commitment.amount
            for commitment in commitments.values()
            if commitment.is_live
        )

    def ref_of(self, commitment: Commitment) -> tuple[str, str]:
        """The resource of a commitment."""
        return next(ref for ref, id_ in self.ids.items() if id_ == commitment.resource_id)
