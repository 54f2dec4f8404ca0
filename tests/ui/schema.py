"""The shapes of the API's answers alone, for the dashboard's types: `python -m tests.ui.schema` prints them."""

import json
from typing import Any

from tests.api.contract import DOCUMENT


def schemas() -> dict[str, Any]:
    """An OpenAPI document without paths."""
    shapes = {name: _without_titles(shape) for name, shape in DOCUMENT["components"]["schemas"].items()}
    return {"openapi": "3.1.0", "info": DOCUMENT["info"], "paths": {}, "components": {"schemas": shapes}}


def _without_titles(value: Any) -> Any:
    """Titles repeat the names."""
    if isinstance(value, dict):
        return {key: _without_titles(one) for key, one in value.items() if key != "title" or not isinstance(one, str)}
    return [_without_titles(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    print(json.dumps(schemas()))
