"""The small cloud behind a real gunicorn, configured as in production: `python -m tests.api.server`.

Reads $PORT and $DATABASE_URL (a database with migrations applied, and nothing else in it). With $GROWING, quota of cores
grows by itself.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication

from limes.catalog.catalog import BehaviorRule
from limes.commitments.rules import CommitmentRules
from limes.db.engine import Engine
from limes.notifications.targets import ProjectWebhookSettings, Resolver
from limes.quota.rules import QuotaSet
from tests.api.world import World, make_world
from tests.autogrow.growing import GROWING_CORES, fill_growing
from tests.commitments.commitments import BEHAVIORS
from tests.support.processes import ServerProcess, free_port, http_answers

THREADS = 4

RICH = BehaviorRule(
    resource="compute/.*",
    overcommit_factor=1.5,
    scales_with=("volume", "capacity"),
    scaling_factor=2,
    annotations={"display_name": "Something", "order": "3"},
)
"""Whatever a resource can have besides commitments."""

CONVERTIBLE = CommitmentRules(conversions=({("compute", "cores"): 4, ("volume", "capacity"): 6},))


SIZES = {"medium": QuotaSet("medium", "some users", {("compute", "cores"): 25, ("compute", "ram"): 512})}


class Somewhere(Resolver):
    """All names are on the internet."""

    def __call__(self, host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34"]


def cloud(engine: Engine, *, fill: bool) -> World:
    """The cloud with everything switched on."""
    hosts = ProjectWebhookSettings(allowed_hosts=("chat.example.com",))
    options: dict[str, Any] = {
        "webhooks": hosts,
        "resolver": Somewhere(),
        "burst_multiplier": 0.5,
        "behaviors": [*BEHAVIORS, RICH],
        "quota_sets": SIZES,
    }
    if "GROWING" in os.environ:
        options["distributions"] = [GROWING_CORES]
    world = make_world(engine, fill=fill, commitment_rules=CONVERTIBLE, **options)
    if fill and "GROWING" in os.environ:
        engine.atomic(lambda: fill_growing(engine))
    return world


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with this app, configured here and nowhere else."""

    def load_config(self) -> None:
        options = {
            "bind": f"127.0.0.1:{os.environ['PORT']}",
            "threads": THREADS,
            "worker_class": "limes.web.worker.thread_worker.KeepAliveWorker",
            "graceful_timeout": 1,
            "control_socket_disable": True,
        }
        for key, value in options.items():
            self.cfg.set(key, value)

    def load(self) -> Any:
        return cloud(Engine(os.environ["DATABASE_URL"], pool_size=THREADS, pool_timeout=60), fill=False).app


def main() -> None:
    """Serves until it is stopped."""
    engine = Engine(os.environ["DATABASE_URL"])
    cloud(engine, fill=True)
    engine.close()
    sys.argv = sys.argv[:1]
    Server().run()


def serve(database_url: str, folder: Path, **more_env: str) -> tuple[int, ServerProcess]:
    """The port, and the process: to be started."""
    port = free_port()
    return port, ServerProcess(
        [sys.executable, "-m", "tests.api.server"],
        ready=http_answers(f"http://127.0.0.1:{port}/healthcheck"),
        log=folder / "gunicorn.log",
        env={"PORT": str(port), "DATABASE_URL": database_url, "PYTHONPATH": os.pathsep.join(sys.path), **more_env},
    )


if __name__ == "__main__":
    main()
