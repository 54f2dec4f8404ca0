"""A list of providers has the same documents as the providers one by one."""

import json

import pytest

from limes.placement.handlers.resource_provider import document_of, render_providers
from limes.placement.search.model import Cloud, Provider

ODD = 'a "b" \\ %s %(uuid)s é \n\t\x01 \u2028 </script> 𝄞'


@pytest.mark.parametrize("prefix", ["", "/placement", "/100%25-1"])
@pytest.mark.parametrize("version", [0, 1, 5, 6, 10, 11, 13, 14, 39])
def test_each_document_is_that_of_its_provider(version: int, prefix: str) -> None:
    root = Provider(1, "uuid-1", ODD, 1, None, 0)
    child = Provider(2, "uuid-2", "child", 1, 1, 12345678901)
    more = [Provider(key, f"uuid-{key}", f"name-{key}", key) for key in range(3, 2503)]
    providers = list(Cloud().replace([root, child, *more]).by_id.values())
    rendered = json.loads(render_providers(providers, version, prefix))
    assert rendered == {"resource_providers": [document_of(provider, version, prefix) for provider in providers]}


def test_an_empty_list() -> None:
    assert json.loads(render_providers([], 39, "")) == {"resource_providers": []}
