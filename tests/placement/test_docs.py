"""What exists is documented: each operation with its rule, each error code, each setting."""

from pathlib import Path

import pytest

from limes.placement import errors
from limes.placement.routes import ROUTES, rules
from limes.placement.search import values as query_errors
from limes.placement.settings import PlacementBounds, PlacementSettings

PAGE = (Path(__file__).parents[2] / "docs" / "placement-api.md").read_text()


@pytest.mark.parametrize(("path", "method"), [(path, method) for path in ROUTES for method in ROUTES[path]])
def test_operations(path: str, method: str) -> None:
    operation = ROUTES[path][method]
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{method} {path}` "))
    assert f"1.{operation.since}" in line
    assert operation.rule is None or f"`{operation.rule}`" in line


def test_rules() -> None:
    listed = {rule.name for rule in rules(True) if rule.operations}
    assert [name for name in listed if f"`{name}`" not in PAGE] == []


def test_error_codes() -> None:
    codes = {getattr(one, "code", None) for one in vars(errors).values() if isinstance(one, type)} - {None}
    codes |= {
        value for value in vars(query_errors).values() if isinstance(value, str) and value.startswith("placement.")
    }
    assert [code for code in codes if f"| `{code}` |" not in PAGE] == []


def test_settings() -> None:
    names = [name for name in PlacementSettings.model_fields if name not in ("bounds", "cors")]
    names += [f"bounds.{name}" for name in PlacementBounds.model_fields]
    assert [name for name in names if f"`{name}`" not in PAGE] == []
