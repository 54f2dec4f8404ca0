"""Allocations of one consumer and of several, usages, and inventory that moves (`/reshaper`)."""

from collections.abc import Iterator
from typing import Any

from tests.placement.differential.story import Step, Story


def claim(story: Story, resources: Any, generation: Any = None, **more: Any) -> dict[str, Any]:
    """A consumer's part in the form of the version."""
    body: dict[str, Any] = {"allocations": resources}
    if story.version >= 8:
        body |= {"project_id": story.project, "user_id": story.uuid("user")}
    if story.version >= 28:
        body["consumer_generation"] = generation
    if story.version >= 38:
        body["consumer_type"] = "INSTANCE"
    return body | more


def resources(story: Story, **by_provider: dict[str, int]) -> Any:
    """Resources by provider in the form of the version: a list below 1.12."""
    if story.version < 12:
        return [
            {"resource_provider": {"uuid": story.uuid(name)}, "resources": amounts}
            for name, amounts in by_provider.items()
        ]
    return {story.uuid(name): {"resources": amounts} for name, amounts in by_provider.items()}


def allocations(story: Story) -> Iterator[Step]:
    """One consumer's allocations, well and badly."""
    path = f"/allocations/{story.uuid('consumer')}"
    yield Step("GET", path)
    yield Step("DELETE", path)
    fitting = resources(story, a={"VCPU": 2, "DISK_GB": 10})
    bodies = (
        claim(story, fitting, 5),
        claim(story, resources(story, a={"VCPU": 99})),
        claim(story, resources(story, a={"DISK_GB": 15})),
        claim(story, resources(story, a={"MEMORY_MB": 1})),
        claim(story, resources(story, a={"CUSTOM_NOPE": 1})),
        claim(story, resources(story, nope={"VCPU": 1})),
        claim(story, resources(story, a={"VCPU": 0})),
        claim(story, resources(story, a={})),
        claim(story, fitting, other=1),
        claim(story, fitting, mappings={"": [story.uuid("a")]}),
        claim(story, fitting, mappings={}),
        claim(story, fitting, consumer_type="instance"),
        {"allocations": fitting},
        {"allocations": []},
        claim(story, {story.uuid("a"): {"resources": {"VCPU": 1}}}),
        claim(story, {}),
    )
    for number, body in enumerate(bodies):
        # a consumer for each, for upstream remembers some that never had anything
        own = f"/allocations/{story.uuid(f'consumer-{number}')}"
        yield Step("PUT", own, body)
        yield Step("GET", own)
        yield Step("DELETE", own)
    yield Step("PUT", path, claim(story, fitting))
    yield Step("PUT", path, claim(story, fitting))
    yield Step("PUT", path, claim(story, resources(story, c={"VCPU": 1}), 1))
    yield Step("GET", path)
    yield Step("PUT", path, claim(story, resources(story, a={"VCPU": 1}, c={"VCPU": 1}), 2))
    yield Step("PUT", "/allocations/x", claim(story, fitting))
    for name in ("a", "c"):
        for kind in ("allocations", "usages", "inventories"):
            yield Step("GET", f"/resource_providers/{story.uuid(name)}/{kind}")
    inventories = f"/resource_providers/{story.uuid('a')}/inventories"
    yield Step("DELETE", f"{inventories}/VCPU")
    yield Step("DELETE", f"/resource_providers/{story.uuid('a')}")


def several(story: Story) -> Iterator[Step]:
    """Several consumers at once, and what the project uses."""
    one, two = story.uuid("consumer"), story.uuid("consumer2")
    both = {one: claim(story, resources(story, a={"VCPU": 2}), 3), two: claim(story, resources(story, c={"VCPU": 2}))}
    yield Step("POST", "/allocations", both)
    yield Step("POST", "/allocations", {two: claim(story, resources(story, c={"VCPU": 99}), 1)})
    yield Step("POST", "/allocations", {two: claim(story, resources(story, nope={"VCPU": 9}), 1)})
    yield Step("POST", "/allocations", {})
    yield Step("POST", "/allocations", {"x": both[two]})
    for query in (
        f"project_id={story.project}",
        f"project_id={story.project}&user_id={story.uuid('user')}",
        f"project_id={story.project}&consumer_type=all",
        f"project_id={story.project}&consumer_type=unknown",
        f"project_id={story.project}&consumer_type=INSTANCE",
        f"project_id={story.project}&consumer_type=instance",
        f"project_id={story.project}&other=1",
        "project_id=",
        "",
    ):
        yield Step("GET", f"/usages?{query}")
    yield Step("PUT", f"/allocations/{two}", claim(story, {} if story.version >= 12 else [], 1))
    yield Step("GET", f"/allocations/{two}")


def reshaper(story: Story) -> Iterator[Step]:
    """Inventory that moves from one provider to another."""
    shapes = {story.uuid("b"): {"resource_provider_generation": 9, "inventories": {"VGPU": {"total": 4}}}}
    yield Step("POST", "/reshaper", {"inventories": shapes, "allocations": {}})
    yield Step("POST", "/reshaper", {"inventories": {}, "allocations": {}})
    yield Step("POST", "/reshaper", {"inventories": shapes})
    unknown = {story.uuid("nope"): shapes[story.uuid("b")]}
    yield Step("POST", "/reshaper", {"inventories": unknown, "allocations": {}})
    yield Step("GET", f"/resource_providers/{story.uuid('b')}")
