"""Serves the Placement API on an empty database for conformance runs and concurrent tests: `python -m tests.placement.server`.

Reads $PORT; $GABBI_LIVE_WORKDIR (for the SQLite file, unless $PLACEMENT_DATABASE_URL says otherwise);
$GABBI_LIVE_PROFILE, $GABBI_LIVE_POLICY_FILE, $GABBI_LIVE_CORS_ALLOWED_ORIGIN, $GABBI_LIVE_CORS_ALLOW_HEADERS; and
$PLACEMENT_WORKERS, $PLACEMENT_THREADS.
"""

import os
import sys
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication

from limes.auth.without_keystone import NoAuthAuthenticator
from limes.db.engine import Engine
from limes.kernel.system import SystemClock, SystemIds, tune_garbage_collector
from limes.placement.app import create_app
from limes.placement.call import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from limes.placement.routes import open_policy
from limes.placement.settings import PlacementSettings


def settings_from(env: dict[str, str]) -> PlacementSettings:
    """What the profile asks for."""
    profile = env.get("GABBI_LIVE_PROFILE", "core")
    policy_file = env.get("GABBI_LIVE_POLICY_FILE")
    cors: dict[str, Any] = {}
    if profile == "cors":
        cors = {
            "allowed_origin": (env["GABBI_LIVE_CORS_ALLOWED_ORIGIN"],),
            "allow_headers": (env["GABBI_LIVE_CORS_ALLOW_HEADERS"],),
        }
    return PlacementSettings.model_validate(
        {
            "listen": f"127.0.0.1:{env['PORT']}",
            "enforce_new_defaults": profile == "secure-rbac",
            "policy_file": Path(policy_file) if policy_file else None,
            "prefix": env.get("PLACEMENT_PREFIX", ""),
            "cors": cors,
        }
    )


def collaborators(url: str, settings: PlacementSettings) -> PlacementCollaborators:
    """A ready database and everything around it, without authentication."""
    engine = Engine(url)
    placement_migrations.upgrade(engine)
    prepare(engine, SystemClock())
    return PlacementCollaborators(
        engine=engine,
        index=ProviderIndex(engine, SystemClock()),
        authenticator=NoAuthAuthenticator(settings.listen),
        policy=open_policy(settings.policy_file, enforce_new_defaults=settings.enforce_new_defaults),
        clock=SystemClock(),
        ids=SystemIds(),
        settings=settings,
    )


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with this app, configured here and nowhere else."""

    def __init__(self, deps: PlacementCollaborators) -> None:
        self.deps = deps
        super().__init__()

    def load_config(self) -> None:
        options = {
            "bind": self.deps.settings.listen,
            "workers": int(os.environ.get("PLACEMENT_WORKERS", "1")),
            "threads": int(os.environ.get("PLACEMENT_THREADS", "4")),
            "worker_class": "limes.web.worker.thread_worker.KeepAliveWorker",
            "keepalive": 60,
            "graceful_timeout": 1,
            "control_socket_disable": True,
            "post_fork": lambda server, worker: self.deps.engine.dispose(),
            "post_worker_init": lambda worker: tune_garbage_collector(),
        }
        for key, value in options.items():
            self.cfg.set(key, value)

    def load(self) -> Any:
        return create_app(self.deps)


def main() -> None:
    """Serves until it is stopped."""
    env = dict(os.environ)
    url = env.get("PLACEMENT_DATABASE_URL") or f"sqlite:///{env['GABBI_LIVE_WORKDIR']}/placement.db"
    deps = collaborators(url, settings_from(env))
    deps.engine.close()
    sys.argv = sys.argv[:1]
    Server(deps).run()


if __name__ == "__main__":
    main()
