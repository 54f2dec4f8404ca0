"""Resource classes and traits."""

from collections.abc import Iterator

from tests.placement.differential.story import Step, Story


def names(story: Story) -> Iterator[Step]:
    """Resource classes and traits."""
    yield Step("GET", "/")
    one, two = f"/resource_classes/{story.custom_class}", f"/resource_classes/{story.custom_class}_2"
    yield Step("POST", "/resource_classes", {"name": story.custom_class})
    yield Step("POST", "/resource_classes", {"name": story.custom_class})
    yield Step("POST", "/resource_classes", {"name": "custom"})
    yield Step("PUT", two)
    yield Step("PUT", two, {"name": f"{story.custom_class}_3"})
    yield Step("PUT", one, {"name": f"{story.custom_class}_2"})
    yield Step("PUT", "/resource_classes/VCPU", {"name": f"{story.custom_class}_4"})
    yield Step("PUT", one, {"name": story.custom_class})
    for path in (one, two, "/resource_classes/VCPU", "/resource_classes/NOPE"):
        yield Step("GET", path)
    yield Step("DELETE", two)
    yield Step("DELETE", two)
    yield Step("DELETE", "/resource_classes/VCPU")
    trait = f"/traits/{story.custom_trait}"
    yield Step("PUT", trait)
    yield Step("PUT", trait)
    yield Step("GET", trait)
    yield Step("PUT", "/traits/LOWER")
    yield Step("GET", "/traits/CUSTOM_NOPE")
    yield Step("DELETE", "/traits/CUSTOM_NOPE")
    yield Step("DELETE", "/traits/HW_CPU_X86_AVX")
    yield Step("GET", f"/traits?name=startswith:{story.custom_trait}")
    yield Step("GET", f"/traits?name=in:{story.custom_trait},HW_CPU_X86_AVX")
    yield Step("GET", "/traits?name=bad")
    yield Step("GET", "/traits?associated=bad")
    yield Step("GET", f"/traits?associated=true&name=in:{story.custom_trait}")
    yield Step("GET", "/traits?other=1")
