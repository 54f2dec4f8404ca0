"""`limes doctor` warns of variables that nothing reads, so it has to know of all that something does."""

import re
from pathlib import Path
from typing import Any

from limes.app.settings.load import KNOWN_VARIABLES, OVERRIDES

ROOT = Path(__file__).parents[3]


LOADER = ROOT / "limes" / "app" / "settings" / "load.py"


def named_in(path: Path) -> set[Any]:
    return set(re.findall(r"\bLIMES_[A-Z_]*[A-Z]\b(?!_)", path.read_text()))


def test_what_the_sources_name_is_known_and_the_other_way_round() -> None:
    sources = [*(ROOT / "limes").rglob("*.py"), *(ROOT / "plugins").rglob("*.py"), ROOT / "config" / "Containerfile"]
    named = set().union(*map(named_in, sources))
    assert named - KNOWN_VARIABLES == set()
    elsewhere = set().union(*(named_in(path) for path in sources if path != LOADER))
    read_by_the_loader = {*OVERRIDES, "LIMES_DEBUG"}
    parts = {name for name in KNOWN_VARIABLES if name.startswith(("LIMES_DB_", "LIMES_AUDIT_RABBITMQ_"))}
    assert KNOWN_VARIABLES - read_by_the_loader - parts - elsewhere == set()
