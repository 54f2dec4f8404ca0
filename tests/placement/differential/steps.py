"""One story, told at one microversion: requests in order, right and wrong ones, that touch every operation.

Both servers hear the same story with the same UUIDs, so that their answers can be compared one by one.
"""

from collections.abc import Iterator

from tests.placement.differential.allocations import allocations, reshaper, several
from tests.placement.differential.names import names
from tests.placement.differential.providers import inventories, provider_state, providers
from tests.placement.differential.story import Step, Story


def all_steps(story: Story) -> Iterator[Step]:
    """All requests in order."""
    yield from names(story)
    yield from providers(story)
    yield from inventories(story)
    yield from provider_state(story)
    yield from allocations(story)
    yield from several(story)
    yield from reshaper(story)
    yield from queries(story)
    yield from ending(story)


def queries(story: Story) -> Iterator[Step]:
    """Candidates of this story's own tree."""
    tree = f"in_tree={story.uuid('a')}"
    stripped = tree.replace("=", "=%20")
    for query in (
        "resources=VCPU:1", f"resources=VCPU:1&{tree}", f"resources=VCPU:999&{tree}", "resources=VCPU",
        f"resources=VCPU:1&{stripped}",
        f"resources=CUSTOM_NOPE:1&{tree}", f"resources=VCPU:1&limit=0&{tree}", f"resources=VCPU:1&required=NOPE&{tree}",
        f"resources1=VCPU:1&{tree}", f"resources1=VCPU:1&resources2=VCPU:1&{tree}",
        f"resources1=VCPU:1&resources2=VCPU:1&group_policy=&group_policy=none&{tree}",
    ):  # fmt: skip
        if "in_tree=" in query or story.version < 31:
            # without in_tree the answer tells of other stories too: only where both have none of it
            yield Step("GET", f"/allocation_candidates?{query}" if "in_tree=" in query else "/allocation_candidates")


def ending(story: Story) -> Iterator[Step]:
    """Everything goes."""
    for name in ("consumer", "consumer2", "consumer"):
        yield Step("DELETE", f"/allocations/{story.uuid(name)}")
    for name in ("a", "c", "b", "a"):
        yield Step("DELETE", f"/resource_providers/{story.uuid(name)}")
    yield Step("DELETE", f"/resource_classes/{story.custom_class}")
    yield Step("DELETE", f"/traits/{story.custom_trait}")
    for method in ("PATCH", "OPTIONS", "HEAD"):
        yield Step(method, "/resource_providers")
