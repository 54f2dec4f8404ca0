"""The WSGI app of a real Glance with images in files; run by gunicorn in the `real` environment, never imported by tests.

Makes the database first, in a child, because that leaves options registered behind.
"""

import os
import sys

sys.argv = sys.argv[:1]  # oslo.config would parse gunicorn's

FOLDER = os.environ["OS_GLANCE_CONFIG_DIR"]

if not os.path.exists(f"{FOLDER}/tables"):
    child = os.fork()
    if child == 0:
        from glance.cmd import manage

        sys.argv = ["glance-manage", "--config-file", f"{FOLDER}/glance-api.conf", "db_sync"]
        os._exit(1 if manage.main() else 0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("Glance's tables could not be made")
    open(f"{FOLDER}/tables", "w").close()

from glance.common.wsgi_app import init_app  # noqa: E402 - the tables have to be there

application = init_app()
