"""A list of providers has the same documents as the providers one by one."""

import json
from typing import Any

import pytest

from limes.placement.handlers.resource_provider import document_of, render_list
from limes.placement.search.model import Cloud, Provider

ODD = 'a "b" \\ %s %(uuid)s é \n\t\x01 \u2028 </script> 𝄞'


def listed(cloud: Cloud, version: int, prefix: str, matching: list[Provider] | None = None) -> tuple[Any, float]:
    """The documents of all, or of these, and when the last one was updated."""
    data, updated = render_list([*cloud.by_id.values()] if matching is None else matching, cloud, version, prefix)
    return json.loads(data)["resource_providers"], updated


def one_by_one(cloud: Cloud, version: int, prefix: str) -> Any:
    return [document_of(provider, version, prefix) for provider in cloud.by_id.values()]


@pytest.mark.parametrize("prefix", ["", "/placement", "/100%25-1"])
@pytest.mark.parametrize("version", [0, 1, 5, 6, 10, 11, 13, 14, 39])
def test_each_document_is_that_of_its_provider(version: int, prefix: str) -> None:
    root = Provider(1, "uuid-1", ODD, 1, None, 0)
    child = Provider(2, "uuid-2", "child", 1, 1, 12345678901)
    more = [Provider(key, f"uuid-{key}", f"name-{key}", key, updated_at=key) for key in range(3, 2503)]
    cloud = Cloud().replace([root, child, *more])
    expected = one_by_one(cloud, version, prefix)
    assert listed(cloud, version, prefix) == (expected, 2502)
    assert listed(cloud, version, prefix, [*cloud.by_id.values()][:2400]) == (expected[:2400], 2400)


def test_no_document_is_older_than_its_provider() -> None:
    cloud = Cloud().replace([Provider(key, f"uuid-{key}", f"name-{key}", key) for key in range(1, 600)])
    assert listed(cloud, 39, "") == (one_by_one(cloud, 39, ""), 0)
    moved = Provider(301, "uuid-301", "name-301", 7, 7)
    changed = cloud.replace([Provider(7, "uuid-7", "renamed", 7, None, 1, updated_at=5), moved], gone=[200, 599])
    for version, prefix in ((39, ""), (0, ""), (39, "/placement"), (39, "")):
        assert listed(changed, version, prefix) == (one_by_one(changed, version, prefix), 5)
        assert listed(cloud, version, prefix) == (one_by_one(cloud, version, prefix), 0), "still the older one"


def test_an_empty_list() -> None:
    assert listed(Cloud(), 39, "") == ([], 0)
    assert listed(Cloud().replace([Provider(1, "uuid-1", "one", 1)]), 39, "", []) == ([], 0)
