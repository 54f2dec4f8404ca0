"""The WSGI app of a real Keystone; run by gunicorn in the `real` virtual environment, never imported by tests.

Makes the database and the keys first if there are none. All `keystone-manage` commands run in one forked child, because
each costs 2 s of imports in a process of its own; and in a child, because they leave options registered behind.
"""

import os
import sys
import traceback
from collections.abc import Callable

sys.argv = sys.argv[:1]  # oslo.config would parse gunicorn's

FOLDER = os.environ["OS_KEYSTONE_CONFIG_DIR"]


def _bootstrap() -> None:
    from keystone.cmd import cli
    from oslo_config import cfg

    url = os.environ["BOOTSTRAP_URL"]
    urls = [part for kind in ("public", "internal", "admin") for part in (f"--bootstrap-{kind}-url", url)]
    user = ["--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    for command in (
        ["db_sync"],
        ["fernet_setup", *user],
        ["credential_setup", *user],
        [
            "bootstrap",
            "--bootstrap-password",
            os.environ["BOOTSTRAP_PASSWORD"],
            "--bootstrap-region-id",
            "RegionOne",
            *urls,
        ],
    ):
        sys.argv = ["keystone-manage", "--config-file", f"{FOLDER}/keystone.conf", *command]
        cfg.CONF.reset()
        cli.main(sys.argv)


def _run_in_child(work: Callable[[], None]) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("keystone-manage failed")


if not os.path.exists(f"{FOLDER}/bootstrapped"):
    import keystone.cmd.cli  # noqa: F401 - here, so that the child and this process share the imports

    _run_in_child(_bootstrap)
    open(f"{FOLDER}/bootstrapped", "w").close()

from keystone.wsgi.api import application  # noqa: E402 - the database has to be there

__all__ = ["application"]
