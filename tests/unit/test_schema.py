"""The models and the migrations describe the same tables."""

from playhouse.schema_diff import diff_models

from limes.db import models
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations


def test_the_migrations_make_what_the_models_describe(database_url_with):
    engine = Engine(database_url_with(limes_migrations))
    models.bind(engine.db)
    with engine.connection():
        diff = diff_models(engine.db, list(models.MODELS))
    engine.close()
    assert not diff, diff
