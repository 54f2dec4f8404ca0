"""Requests to other servers are made by the sessions of `limes.kernel.outgoing` alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import limes

ROOT = Path(limes.__file__).parents[1]

MAKES_REQUESTS = {
    *(
        f"requests.{name}"
        for name in ("Session", "session", "request", "get", "head", "post", "put", "patch", "delete")
    ),
    *("Session", "session.Session", "urlopen", "urllib.request.urlopen", "auth_token.filter_factory"),
}
ALLOWED = {
    "limes/kernel/outgoing/session.py",
    "limes/app/commands/serve/supervisor.py",  # asks its own children on loopback whether they are up, without credentials
}


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MAKES_REQUESTS:
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node.func)}"


def test_nobody_else_makes_sessions() -> None:
    files = [path for folder in ("limes", "plugins/limes_plugins") for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100
    found = [call for path in files if str(path.relative_to(ROOT)) not in ALLOWED for call in calls(path)]
    assert found == []
