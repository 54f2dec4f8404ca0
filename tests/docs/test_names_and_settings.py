"""If it exists it is documented."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from pydantic import BaseModel

from limes.api.openapi import build
from limes.app.liquid.app import RULES as LIQUID_RULES
from limes.app.routes import DOCUMENTED_RULES, ROUTES, RULES, SECTIONS
from limes.app.settings.document import _model_of, render_page
from limes.app.settings.root import Settings
from limes.backends.loader import Plugins
from limes.kernel.validation.sections import documented_fields
from limes.web.operation import operations_of
from tests.docs.blocks import pages

ROOT = Path(__file__).parents[2]


def test_the_configuration_page_is_made_from_the_models() -> None:
    assert (ROOT / "docs" / "configuration.md").read_text() == render_page(), (
        "run: limes config options > docs/configuration.md"
    )


@pytest.mark.parametrize(
    ("section", "offer"), [("services", "quota"), ("capacitors", "capacity"), ("discovery", "discovery")]
)
def test_the_configuration_page_leads_to_every_plugin(section: str, offer: str) -> None:
    plugins = Plugins()
    wanted = [name for name in plugins.names if getattr(plugins.get(name), offer) is not None]
    text = render_page().partition(f"## `{section}`")[2].partition("| key |")[0]
    assert sorted(re.findall(r"\[`([\w-]+)`\]\(plugins", text)) == wanted


def _models(model: type[BaseModel] | type[Settings], seen: set[Any]) -> Iterator[Any]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        if inner := _model_of(field.annotation):
            yield from _models(inner, seen)


def test_every_setting_says_what_it_means() -> None:
    silent = [
        f"{model.__name__}.{name}"
        for model in _models(Settings, set())
        for name, field in documented_fields(model).items()
        if not field.description and _model_of(field.annotation) is None
    ]
    assert silent == []


def test_the_example_shows_every_section() -> None:
    example = yaml.safe_load((ROOT / "config" / "limes.yaml").read_text())
    assert set(example) == set(Settings.model_fields)


def test_every_route_is_in_the_api_reference() -> None:
    page = (ROOT / "docs" / "limes-api.md").read_text()
    table = operations_of(ROUTES)
    assert [f"{method} {path}" for method, path, _ in table if f"`{method} {path}`" not in page] == []


def test_every_policy_rule_says_what_it_is_for() -> None:
    assert [rule.name for rule in RULES if len(rule.description) < 10] == []
    assert len({rule.name for rule in RULES}) == len(RULES)


def _code_of_pages() -> set[str]:
    """All words in code on the pages in docs/ that are written by hand."""
    found: set[str] = set()
    for page in pages()[1:]:
        for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
            codes = [child.content for child in token.children or () if child.type == "code_inline"]
            codes += [token.content] if token.type == "fence" else []
            found.update(word for code in codes for word in re.findall(r"[\w:]+", code))
    return found


def _fields(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _fields(part)


def test_every_field_of_the_api_is_on_a_page() -> None:
    """In requests and answers; the generated reference does not count."""
    fields = set(_fields(build(SECTIONS, DOCUMENTED_RULES)))
    assert len(fields) > 250
    assert sorted(fields - _code_of_pages()) == []


def test_every_policy_rule_is_on_a_page() -> None:
    assert sorted({rule.name for rule in (*RULES, *LIQUID_RULES)} - _code_of_pages()) == []
