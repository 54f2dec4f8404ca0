"""`make shell`: a Python prompt with a small cloud in a scratch database. What is typed changes nothing else."""

import code
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api import world as sample
from tests.api.world import World, make_world

GREETING = """\
A small cloud is open: domains germany (projects berlin, dresden) and france (paris), services compute and volume.
  limes            the context of use cases: limes.engine, limes.catalog, limes.app.settings
  rows(SQL)        what a statement returns: rows("SELECT name FROM projects")
  get(PATH)        what the Limes API answers: get("/v1/domains")
  world            the API on this cloud: world.request("PUT", PATH, json=...)
  GERMANY, FRANCE, BERLIN, DRESDEN, PARIS      UUIDs
All of it is deleted when you leave (Ctrl-D)."""


def names(world: World) -> dict[str, Any]:
    """What can be used without an import."""
    places = {name: getattr(sample, name) for name in ("GERMANY", "FRANCE", "BERLIN", "DRESDEN", "PARIS")}
    return {"limes": world.limes, "world": world, "rows": world.engine.rows, "get": world.get, **places}


def main() -> None:
    """Opens the prompt, and deletes the cloud afterwards."""
    with TemporaryDirectory(prefix="limes-shell-") as folder:
        engine = Engine(f"sqlite:///{Path(folder) / 'limes.db'}")
        limes_migrations.upgrade(engine)
        if sys.stdin.isatty():
            import readline  # noqa: F401  # editing and history of lines
        try:
            code.interact(banner=GREETING, local=names(make_world(engine)), exitmsg="")
        finally:
            engine.close()


if __name__ == "__main__":
    main()
