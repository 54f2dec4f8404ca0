"""The WSGI app of a real Neutron (ML2, no agents); run by gunicorn in the `real` environment, never imported by tests.

Its migrations run neither on SQLite nor on PostgreSQL, so the tables are made from the models, in a child, because that
leaves options registered behind.
"""

import os
import sys

sys.argv = sys.argv[:1]  # oslo.config would parse gunicorn's

FOLDER = os.environ["OS_NEUTRON_CONFIG_DIR"]

if not os.path.exists(f"{FOLDER}/tables"):
    child = os.fork()
    if child == 0:
        from neutron.db.migration.models import head
        from sqlalchemy import create_engine

        head.get_metadata().create_all(create_engine(os.environ["NEUTRON_DATABASE"]))
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("Neutron's tables could not be made")
    open(f"{FOLDER}/tables", "w").close()

from neutron.wsgi.api import application  # noqa: E402 - the tables have to be there

__all__ = ["application"]
