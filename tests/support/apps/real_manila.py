"""The WSGI app of a real Manila (API only); run by gunicorn in the `real` environment, never imported by tests."""

import os
import sys

FOLDER = os.environ["MANILA_FOLDER"]
sys.argv = ["manila-api", "--config-file", f"{FOLDER}/manila.conf"]  # oslo.config would parse gunicorn's

if not os.path.exists(f"{FOLDER}/tables"):
    child = os.fork()
    if child == 0:  # its migrations lock themselves out on SQLite, so the tables are made from the models
        from manila.db.sqlalchemy import models
        from sqlalchemy import create_engine

        models.BASE.metadata.create_all(create_engine(os.environ["MANILA_DATABASE"]))
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("Manila's tables could not be made")
    open(f"{FOLDER}/tables", "w").close()

from manila.wsgi.wsgi import initialize_application  # noqa: E402 - the tables have to be there

application = initialize_application()
