"""Random clouds and queries as they go over HTTP, the same for each seed: to be put to two servers and compared."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_GPU")
TRAITS = ("HW_CPU_X86_SSE", "HW_CPU_X86_AVX", "CUSTOM_A", "CUSTOM_B")
SHARES = "MISC_SHARES_VIA_AGGREGATE"
MINORS = (10, 12, 17, 22, 25, 26, 27, 28, 29, 32, 34, 36, 36, 39, 39, 39, 39)


@dataclass
class RandomProvider:
    uuid: str
    parent: str | None
    inventories: dict[str, dict[str, Any]] = field(default_factory=dict)
    traits: list[str] = field(default_factory=list)
    aggregates: list[str] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)


class RandomCloud:
    """A handful of trees, some of them single sharing providers."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.aggregates = [self._uuid() for _ in range(3)]
        self.providers: list[RandomProvider] = []
        share, size = self.rng.random() < 0.8, self.rng.choice([1, 3, 5])
        for _ in range(self.rng.randint(1, 5)):
            self._add_tree(self.rng.randint(1, size), share)

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def _add_tree(self, size: int, share: bool) -> None:
        rng, tree = self.rng, list[RandomProvider]()
        for _ in range(size):
            one = RandomProvider(self._uuid(), rng.choice(tree).uuid if tree else None)
            one.inventories = {name: self._inventory() for name in CLASSES if rng.random() < 0.6}
            one.traits = [trait for trait in TRAITS if rng.random() < 0.3]
            if share and size == 1 and rng.random() < 0.4:
                one.traits.append(SHARES)
            one.aggregates = [aggregate for aggregate in self.aggregates if rng.random() < 0.35]
            one.used = {name: 1 for name, inv in one.inventories.items() if inv["total"] > 2 and rng.random() < 0.3}
            tree.append(one)
        self.providers += tree

    def _inventory(self) -> dict[str, Any]:
        rng = self.rng
        total = rng.choice([1, 2, 4, 8, 16])
        min_unit = rng.choice([1, 1, 1, 2]) if total == 2 else 1
        return {
            "total": total,
            "reserved": rng.choice([0, 0, 0, 1]) if total > 2 else 0,
            "min_unit": min_unit,
            "max_unit": rng.choice([total, total, max(min_unit, total // 2), 100]),
            "step_size": rng.choice([1, 1, 1, 1, 2]) if total <= 2 else 1,
            "allocation_ratio": rng.choice([1.0, 1.0, 1.5, 2.0]),
        }

    def load(self, do: Callable[..., None]) -> None:
        """Creates everything by requests: `do(method, path, body)`."""
        do("PUT", f"/resource_classes/{CLASSES[3]}")
        for trait in TRAITS[2:]:
            do("PUT", f"/traits/{trait}")
        for one in self.providers:
            here = f"/resource_providers/{one.uuid}"
            do("POST", "/resource_providers", {"uuid": one.uuid, "name": one.uuid, "parent_provider_uuid": one.parent})
            parts = (("inventories", one.inventories), ("traits", one.traits), ("aggregates", one.aggregates))
            for generation, (name, value) in enumerate(parts):
                do("PUT", f"{here}/{name}", {"resource_provider_generation": generation, name: value})
            if one.used:
                do("PUT", f"/allocations/{one.uuid}", self._allocation(one))

    def _allocation(self, one: RandomProvider) -> dict[str, Any]:
        return {
            "allocations": {one.uuid: {"resources": one.used}},
            "project_id": "project",
            "user_id": "user",
            "consumer_generation": None,
            "consumer_type": "TEST",
        }

    def candidates_query(self) -> tuple[int, str]:
        """A microversion and a query string for allocation candidates."""
        return _CandidatesQuery(self).make()

    def providers_query(self) -> tuple[int, str]:
        """A microversion and a query string for the list of providers."""
        rng, query = self.rng, _CandidatesQuery(self)
        query.minor = rng.choice([4, 14, 18, 22, 24, 32, 38, 39, 39])
        if rng.random() < 0.5:
            query.pairs.append(("resources", query.resources(2)))
        query.filters("", 1.2)
        if query.minor < 14:
            query.pairs = [pair for pair in query.pairs if pair[0] != "in_tree"]
        if query.minor < 18:
            query.pairs = [pair for pair in query.pairs if pair[0] != "required"]
        return query.minor, urlencode(query.pairs, safe=":,!")


class _CandidatesQuery:
    def __init__(self, cloud: RandomCloud) -> None:
        self.cloud, self.rng = cloud, cloud.rng
        self.minor = self.rng.choice(MINORS)
        self.pairs: list[tuple[str, str]] = []

    def make(self) -> tuple[int, str]:
        rng, suffixes = self.rng, list[str]()
        unsuffixed = self.minor < 25 or rng.random() < 0.65
        if unsuffixed:
            self.pairs.append(("resources", self.resources(3)))
            self.filters("", 1.0)
        if self.minor >= 25:
            for number in range(rng.choice([0, 1, 2, 2, 3] if unsuffixed else [1, 2, 2, 3])):
                suffixes.append(str(number + 1))
                self.pairs.append((f"resources{suffixes[-1]}", self.resources(3)))
                self.filters(suffixes[-1], 0.6)
        if self.minor >= 36 and suffixes and rng.random() < 0.6:
            self._same_subtree(suffixes)
        if len(suffixes) > 1 or (self.minor >= 25 and rng.random() < 0.2):
            self.pairs.append(("group_policy", rng.choice(["none", "isolate"])))
        if self.minor >= 35 and rng.random() < 0.2:
            self.pairs.append(("root_required", self._traits()))
        return self.minor, urlencode(self.pairs, safe=":,!")

    def resources(self, most: int) -> str:
        chosen = self.rng.sample(CLASSES, self.rng.randint(1, most))
        return ",".join(f"{name}:{self.rng.choice([1, 1, 1, 2, 3])}" for name in chosen)

    def filters(self, suffix: str, often: float) -> None:
        rng, minor = self.rng, self.minor
        if minor >= 17 and rng.random() < 0.4 * often:
            self.pairs.append((f"required{suffix}", self._traits()))
        if minor >= 39 and rng.random() < 0.2 * often:
            self.pairs.append((f"required{suffix}", "in:" + ",".join(rng.sample(TRAITS, 2))))
        if minor >= 21 and rng.random() < 0.25 * often:
            self.pairs.append((f"member_of{suffix}", self._member_of()))
        if minor >= 24 and rng.random() < 0.1 * often:
            self.pairs.append((f"member_of{suffix}", self._member_of()))
        if minor >= 31 and rng.random() < 0.1 * often:
            self.pairs.append((f"in_tree{suffix}", rng.choice(self.cloud.providers).uuid))

    def _traits(self) -> str:
        chosen = self.rng.sample(TRAITS, self.rng.choice([1, 1, 2]))
        return ",".join(("!" if self.minor >= 22 and self.rng.random() < 0.4 else "") + trait for trait in chosen)

    def _member_of(self) -> str:
        sign = "!" if self.minor >= 32 and self.rng.random() < 0.3 else ""
        if self.rng.random() < 0.4:
            return f"{sign}in:{','.join(self.rng.sample(self.cloud.aggregates, 2))}"
        return sign + self.rng.choice(self.cloud.aggregates)

    def _same_subtree(self, suffixes: list[str]) -> None:
        tied = self.rng.sample(suffixes, self.rng.randint(1, len(suffixes)))
        if self.rng.random() < 0.5:
            # upstream finds nothing for a group without resources that only forbids, or only names a tree
            self.pairs.append(("member_of_x", self.rng.choice(self.cloud.aggregates)))
            self.filters("_x", 0.6)
            suffixes.append("_x")
            tied.append("_x")
        self.pairs.append(("same_subtree", ",".join(tied)))
