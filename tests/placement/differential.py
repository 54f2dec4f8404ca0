"""One story, told at one microversion: requests in order, right and wrong ones, that touch every operation.

Both servers hear the same story with the same UUIDs, so that their answers can be compared one by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

_SPACE = UUID("7b3c2a52-1f1b-4a53-9d1f-0d8a3b1d6f00")


@dataclass(frozen=True, slots=True)
class Step:
    """One request."""

    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body}"


class Story:
    """The story of one microversion. `seed` keeps its names apart from those of other stories."""

    def __init__(self, version: int, seed: str) -> None:
        self.version = version
        self._seed = f"{seed}-{version}"
        self.custom_class = f"CUSTOM_C_{seed.upper()}_{version}"
        self.custom_trait = f"CUSTOM_T_{seed.upper()}_{version}"
        self.project = self.uuid("project")

    def uuid(self, name: str) -> str:
        """The UUID of what the story calls by this name."""
        return str(uuid5(_SPACE, f"{self._seed}-{name}"))

    def name(self, name: str) -> str:
        """The provider's name."""
        return f"{name}-{self._seed}"

    def steps(self) -> Iterator[Step]:
        """All requests in order."""
        yield from self.names()
        yield from self.providers()
        yield from self.inventories()
        yield from self.provider_state()
        yield from self.allocations()
        yield from self.several()
        yield from self.reshaper()
        yield from self.queries()
        yield from self.ending()

    def names(self) -> Iterator[Step]:
        """Resource classes and traits."""
        yield Step("GET", "/")
        one, two = f"/resource_classes/{self.custom_class}", f"/resource_classes/{self.custom_class}_2"
        yield Step("POST", "/resource_classes", {"name": self.custom_class})
        yield Step("POST", "/resource_classes", {"name": self.custom_class})
        yield Step("POST", "/resource_classes", {"name": "custom"})
        yield Step("PUT", two)
        yield Step("PUT", two, {"name": f"{self.custom_class}_3"})
        yield Step("PUT", one, {"name": f"{self.custom_class}_2"})
        yield Step("PUT", "/resource_classes/VCPU", {"name": f"{self.custom_class}_4"})
        yield Step("PUT", one, {"name": self.custom_class})
        for path in (one, two, "/resource_classes/VCPU", "/resource_classes/NOPE"):
            yield Step("GET", path)
        yield Step("DELETE", two)
        yield Step("DELETE", two)
        yield Step("DELETE", "/resource_classes/VCPU")
        trait = f"/traits/{self.custom_trait}"
        yield Step("PUT", trait)
        yield Step("PUT", trait)
        yield Step("GET", trait)
        yield Step("PUT", "/traits/LOWER")
        yield Step("GET", "/traits/CUSTOM_NOPE")
        yield Step("DELETE", "/traits/CUSTOM_NOPE")
        yield Step("DELETE", "/traits/HW_CPU_X86_AVX")
        yield Step("GET", f"/traits?name=startswith:{self.custom_trait}")
        yield Step("GET", f"/traits?name=in:{self.custom_trait},HW_CPU_X86_AVX")
        yield Step("GET", "/traits?name=bad")
        yield Step("GET", "/traits?associated=bad")
        yield Step("GET", f"/traits?associated=true&name=in:{self.custom_trait}")
        yield Step("GET", "/traits?other=1")

    def providers(self) -> Iterator[Step]:
        """Providers and their tree."""
        post = "/resource_providers"
        one, two, three = (self.uuid(name) for name in ("a", "b", "c"))
        yield Step("POST", post, {"name": self.name("a"), "uuid": one})
        yield Step("POST", post, {"name": self.name("a"), "uuid": self.uuid("x")})
        yield Step("POST", post, {"name": self.name("x"), "uuid": one})
        yield Step("POST", post, {"uuid": one})
        yield Step("POST", post, {"name": "x" * 201})
        yield Step("POST", post, {"name": self.name("x"), "uuid": "x"})
        yield Step("POST", post, {"name": self.name("b"), "uuid": two, "parent_provider_uuid": one})
        yield Step("POST", post, {"name": self.name("b"), "uuid": two})
        yield Step("POST", post, {"name": self.name("c"), "uuid": three.replace("-", "")})
        yield Step("POST", post, {"name": self.name("y"), "parent_provider_uuid": self.uuid("nope")})
        yield Step("POST", post)
        for name in ("a", "b", "c", "nope"):
            yield Step("GET", f"{post}/{self.uuid(name)}")
        yield Step("PUT", f"{post}/{three}", {"name": self.name("c2")})
        yield Step("PUT", f"{post}/{three}", {"name": self.name("a")})
        yield Step("PUT", f"{post}/{three}", {})
        yield Step("PUT", f"{post}/{self.uuid('nope')}", {"name": "z"})
        for parent in (one, two, None, three, self.uuid("nope")):
            yield Step("PUT", f"{post}/{three}", {"name": self.name("c"), "parent_provider_uuid": parent})
        yield Step("PUT", f"{post}/{one}", {"name": self.name("a"), "parent_provider_uuid": two})
        yield Step("GET", f"{post}/{three}")
        yield Step("GET", f"{post}?in_tree={one}")
        yield Step("GET", f"{post}?name={self.name('a')}")
        yield Step("GET", f"{post}?uuid={one}")
        yield Step("GET", f"{post}?other=1")
        yield Step("DELETE", f"{post}/{self.uuid('nope')}")

    def inventories(self) -> Iterator[Step]:
        """Inventory in all forms."""
        path = f"/resource_providers/{self.uuid('a')}/inventories"
        yield Step("GET", path)
        yield Step("POST", path, {"resource_class": "VCPU", "total": 8})
        yield Step("POST", path, {"resource_class": "VCPU", "total": 8})
        yield Step("POST", path, {"resource_class": "CUSTOM_NOPE", "total": 8})
        yield Step("POST", path, {"resource_class": "vcpu", "total": 8})
        yield Step("POST", path, {"resource_class": "DISK_GB", "total": 8, "reserved": 8})
        yield Step("POST", path, {"resource_class": "MEMORY_MB", "total": 8, "reserved": 9})
        yield Step("POST", path, {"resource_class": "MEMORY_MB"})
        for total in (0, -1, 2**31, 1.5, "1", None):
            yield Step("POST", path, {"resource_class": "MEMORY_MB", "total": total})
        yield Step("POST", path)
        yield Step("PUT", f"{path}/VCPU", {"total": 16})
        yield Step("PUT", f"{path}/VCPU", {"total": 16, "resource_provider_generation": 77})
        yield Step("PUT", f"{path}/VGPU", {"total": 16, "resource_provider_generation": 1})
        yield Step("PUT", f"{path}/VCPU", {"total": 16, "resource_provider_generation": 1, "allocation_ratio": 2.5})
        yield Step("GET", path)
        bad = {"resource_provider_generation": 2, "inventories": {"CUSTOM_NOPE": {"total": 1}}}
        yield Step("PUT", path, bad)
        good = {"VCPU": {"total": 8}, "DISK_GB": {"total": 100, "min_unit": 10, "step_size": 10, "max_unit": 50}}
        for generation in (1, 2, 3):
            yield Step("PUT", path, {"resource_provider_generation": generation, "inventories": good})
        yield Step("PUT", path, {"inventories": good})
        for name in ("VCPU", "DISK_GB", "MEMORY_MB", "CUSTOM_NOPE"):
            yield Step("GET", f"{path}/{name}")
        yield Step("DELETE", f"{path}/MEMORY_MB")
        yield Step("DELETE", f"{path}/CUSTOM_NOPE")
        other = f"/resource_providers/{self.uuid('c')}/inventories"
        yield Step("PUT", other, {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
        yield Step("DELETE", other)
        yield Step("DELETE", other)
        yield Step("PUT", other, {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
        yield Step("PUT", other, {"resource_provider_generation": 3, "inventories": {"VCPU": {"total": 8}}})
        yield Step("GET", other)
        for method in ("GET", "DELETE"):
            yield Step(method, f"/resource_providers/{self.uuid('nope')}/inventories")

    def provider_state(self) -> Iterator[Step]:
        """Traits, aggregates and usages of a provider."""
        base = f"/resource_providers/{self.uuid('b')}"
        one, two = self.uuid("agg1"), self.uuid("agg2")
        aggregates = [
            [one, two], [one, one], ["x"], {"aggregates": [one], "resource_provider_generation": 0},
            {"aggregates": [two], "resource_provider_generation": 0}, {"aggregates": [two]}, [],
        ]  # fmt: skip
        for body in aggregates:
            yield Step("PUT", f"{base}/aggregates", body)
            yield Step("GET", f"{base}/aggregates")
        generation = 1 if self.version >= 19 else 0
        for body in (
            {"traits": [self.custom_trait, "HW_CPU_X86_AVX"], "resource_provider_generation": generation},
            {"traits": [], "resource_provider_generation": generation},
            {"traits": ["CUSTOM_NOPE"], "resource_provider_generation": generation + 1},
            {"traits": ["lower"], "resource_provider_generation": generation + 1},
            {"traits": "x", "resource_provider_generation": 1},
            {"traits": []},
        ):
            yield Step("PUT", f"{base}/traits", body)
            yield Step("GET", f"{base}/traits")
        yield Step("DELETE", f"/traits/{self.custom_trait}")
        yield Step("DELETE", f"{base}/traits")
        yield Step("DELETE", f"{base}/traits")
        for path in ("usages", "allocations", "traits", "aggregates"):
            yield Step("GET", f"/resource_providers/{self.uuid('nope')}/{path}")

    def claim(self, resources: Any, generation: Any = None, **more: Any) -> dict[str, Any]:
        """A consumer's part in the form of the version."""
        body: dict[str, Any] = {"allocations": resources}
        if self.version >= 8:
            body |= {"project_id": self.project, "user_id": self.uuid("user")}
        if self.version >= 28:
            body["consumer_generation"] = generation
        if self.version >= 38:
            body["consumer_type"] = "INSTANCE"
        return body | more

    def resources(self, **by_provider: dict[str, int]) -> Any:
        """Resources by provider in the form of the version: a list below 1.12."""
        if self.version < 12:
            return [
                {"resource_provider": {"uuid": self.uuid(name)}, "resources": amounts}
                for name, amounts in by_provider.items()
            ]
        return {self.uuid(name): {"resources": amounts} for name, amounts in by_provider.items()}

    def allocations(self) -> Iterator[Step]:
        """One consumer's allocations, well and badly."""
        path = f"/allocations/{self.uuid('consumer')}"
        yield Step("GET", path)
        yield Step("DELETE", path)
        fitting = self.resources(a={"VCPU": 2, "DISK_GB": 10})
        bodies = (
            self.claim(fitting, 5),
            self.claim(self.resources(a={"VCPU": 99})),
            self.claim(self.resources(a={"DISK_GB": 15})),
            self.claim(self.resources(a={"MEMORY_MB": 1})),
            self.claim(self.resources(a={"CUSTOM_NOPE": 1})),
            self.claim(self.resources(nope={"VCPU": 1})),
            self.claim(self.resources(a={"VCPU": 0})),
            self.claim(self.resources(a={})),
            self.claim(fitting, other=1),
            self.claim(fitting, mappings={"": [self.uuid("a")]}),
            self.claim(fitting, mappings={}),
            self.claim(fitting, consumer_type="instance"),
            {"allocations": fitting},
            {"allocations": []},
            self.claim({self.uuid("a"): {"resources": {"VCPU": 1}}}),
            self.claim({}),
        )
        for number, body in enumerate(bodies):
            # a consumer for each, for upstream remembers some that never had anything
            own = f"/allocations/{self.uuid(f'consumer-{number}')}"
            yield Step("PUT", own, body)
            yield Step("GET", own)
            yield Step("DELETE", own)
        yield Step("PUT", path, self.claim(fitting))
        yield Step("PUT", path, self.claim(fitting))
        yield Step("PUT", path, self.claim(self.resources(c={"VCPU": 1}), 1))
        yield Step("GET", path)
        yield Step("PUT", path, self.claim(self.resources(a={"VCPU": 1}, c={"VCPU": 1}), 2))
        yield Step("PUT", "/allocations/x", self.claim(fitting))
        for name in ("a", "c"):
            for kind in ("allocations", "usages", "inventories"):
                yield Step("GET", f"/resource_providers/{self.uuid(name)}/{kind}")
        inventories = f"/resource_providers/{self.uuid('a')}/inventories"
        yield Step("DELETE", f"{inventories}/VCPU")
        yield Step("DELETE", f"/resource_providers/{self.uuid('a')}")

    def several(self) -> Iterator[Step]:
        """Several consumers at once, and what the project uses."""
        one, two = self.uuid("consumer"), self.uuid("consumer2")
        both = {one: self.claim(self.resources(a={"VCPU": 2}), 3), two: self.claim(self.resources(c={"VCPU": 2}))}
        yield Step("POST", "/allocations", both)
        yield Step("POST", "/allocations", {two: self.claim(self.resources(c={"VCPU": 99}), 1)})
        yield Step("POST", "/allocations", {two: self.claim(self.resources(nope={"VCPU": 9}), 1)})
        yield Step("POST", "/allocations", {})
        yield Step("POST", "/allocations", {"x": both[two]})
        for query in (
            f"project_id={self.project}",
            f"project_id={self.project}&user_id={self.uuid('user')}",
            f"project_id={self.project}&consumer_type=all",
            f"project_id={self.project}&consumer_type=unknown",
            f"project_id={self.project}&consumer_type=INSTANCE",
            f"project_id={self.project}&consumer_type=instance",
            f"project_id={self.project}&other=1",
            "project_id=",
            "",
        ):
            yield Step("GET", f"/usages?{query}")
        yield Step("PUT", f"/allocations/{two}", self.claim({} if self.version >= 12 else [], 1))
        yield Step("GET", f"/allocations/{two}")

    def reshaper(self) -> Iterator[Step]:
        """Inventory that moves from one provider to another."""
        shapes = {
            self.uuid("b"): {"resource_provider_generation": 9, "inventories": {"VGPU": {"total": 4}}},
        }
        yield Step("POST", "/reshaper", {"inventories": shapes, "allocations": {}})
        yield Step("POST", "/reshaper", {"inventories": {}, "allocations": {}})
        yield Step("POST", "/reshaper", {"inventories": shapes})
        unknown = {self.uuid("nope"): shapes[self.uuid("b")]}
        yield Step("POST", "/reshaper", {"inventories": unknown, "allocations": {}})
        yield Step("GET", f"/resource_providers/{self.uuid('b')}")

    def queries(self) -> Iterator[Step]:
        """Candidates of this story's own tree."""
        tree = f"in_tree={self.uuid('a')}"
        for query in (
            "resources=VCPU:1", f"resources=VCPU:1&{tree}", f"resources=VCPU:999&{tree}", "resources=VCPU",
            f"resources=CUSTOM_NOPE:1&{tree}", f"resources=VCPU:1&limit=0&{tree}", f"resources=VCPU:1&required=NOPE&{tree}",
            f"resources1=VCPU:1&{tree}", f"resources1=VCPU:1&resources2=VCPU:1&{tree}",
        ):  # fmt: skip
            if tree in query or self.version < 31:
                # without in_tree the answer tells of other stories too: only where both have none of it
                yield Step("GET", f"/allocation_candidates?{query}" if tree in query else "/allocation_candidates")

    def ending(self) -> Iterator[Step]:
        """Everything goes."""
        for name in ("consumer", "consumer2", "consumer"):
            yield Step("DELETE", f"/allocations/{self.uuid(name)}")
        for name in ("a", "c", "b", "a"):
            yield Step("DELETE", f"/resource_providers/{self.uuid(name)}")
        yield Step("DELETE", f"/resource_classes/{self.custom_class}")
        yield Step("DELETE", f"/traits/{self.custom_trait}")
        for method in ("PATCH", "OPTIONS", "HEAD"):
            yield Step(method, "/resource_providers")
