"""Providers, their tree, inventory, traits and aggregates."""

from collections.abc import Iterator

from tests.placement.differential.story import Step, Story


def providers(story: Story) -> Iterator[Step]:
    """Providers and their tree."""
    post = "/resource_providers"
    one, two, three = (story.uuid(name) for name in ("a", "b", "c"))
    yield Step("POST", post, {"name": story.name("a"), "uuid": one})
    yield Step("POST", post, {"name": story.name("a"), "uuid": story.uuid("x")})
    yield Step("POST", post, {"name": story.name("x"), "uuid": one})
    yield Step("POST", post, {"uuid": one})
    yield Step("POST", post, {"name": "x" * 201})
    yield Step("POST", post, {"name": story.name("x"), "uuid": "x"})
    yield Step("POST", post, {"name": story.name("b"), "uuid": two, "parent_provider_uuid": one})
    yield Step("POST", post, {"name": story.name("b"), "uuid": two})
    yield Step("POST", post, {"name": story.name("c"), "uuid": three.replace("-", "")})
    yield Step("POST", post, {"name": story.name("y"), "parent_provider_uuid": story.uuid("nope")})
    yield Step("POST", post)
    for name in ("a", "b", "c", "nope"):
        yield Step("GET", f"{post}/{story.uuid(name)}")
    yield Step("PUT", f"{post}/{three}", {"name": story.name("c2")})
    yield Step("PUT", f"{post}/{three}", {"name": story.name("a")})
    yield Step("PUT", f"{post}/{three}", {})
    yield Step("PUT", f"{post}/{story.uuid('nope')}", {"name": "z"})
    for parent in (one, two, None, three, story.uuid("nope")):
        yield Step("PUT", f"{post}/{three}", {"name": story.name("c"), "parent_provider_uuid": parent})
    yield Step("PUT", f"{post}/{one}", {"name": story.name("a"), "parent_provider_uuid": two})
    yield Step("GET", f"{post}/{three}")
    yield Step("GET", f"{post}?in_tree={one}")
    yield Step("GET", f"{post}?name={story.name('a')}")
    yield Step("GET", f"{post}?uuid={one}")
    yield Step("GET", f"{post}?other=1")
    yield Step("DELETE", f"{post}/{story.uuid('nope')}")


def inventories(story: Story) -> Iterator[Step]:
    """Inventory in all forms."""
    path = f"/resource_providers/{story.uuid('a')}/inventories"
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
    other = f"/resource_providers/{story.uuid('c')}/inventories"
    yield Step("PUT", other, {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
    yield Step("DELETE", other)
    yield Step("DELETE", other)
    yield Step("PUT", other, {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}})
    yield Step("PUT", other, {"resource_provider_generation": 3, "inventories": {"VCPU": {"total": 8}}})
    yield Step("GET", other)
    for method in ("GET", "DELETE"):
        yield Step(method, f"/resource_providers/{story.uuid('nope')}/inventories")


def provider_state(story: Story) -> Iterator[Step]:
    """Traits, aggregates and usages of a provider."""
    base = f"/resource_providers/{story.uuid('b')}"
    one, two = story.uuid("agg1"), story.uuid("agg2")
    aggregates = [
        [one, two], [one, one], ["x"], {"aggregates": [one], "resource_provider_generation": 0},
        {"aggregates": [two], "resource_provider_generation": 0}, {"aggregates": [two]}, [],
    ]  # fmt: skip
    for body in aggregates:
        yield Step("PUT", f"{base}/aggregates", body)
        yield Step("GET", f"{base}/aggregates")
    generation = 1 if story.version >= 19 else 0
    for body in (
        {"traits": [story.custom_trait, "HW_CPU_X86_AVX"], "resource_provider_generation": generation},
        {"traits": [], "resource_provider_generation": generation},
        {"traits": ["CUSTOM_NOPE"], "resource_provider_generation": generation + 1},
        {"traits": ["lower"], "resource_provider_generation": generation + 1},
        {"traits": "x", "resource_provider_generation": 1},
        {"traits": []},
    ):
        yield Step("PUT", f"{base}/traits", body)
        yield Step("GET", f"{base}/traits")
    yield Step("DELETE", f"/traits/{story.custom_trait}")
    yield Step("DELETE", f"{base}/traits")
    yield Step("DELETE", f"{base}/traits")
    for path in ("usages", "allocations", "traits", "aggregates"):
        yield Step("GET", f"/resource_providers/{story.uuid('nope')}/{path}")
