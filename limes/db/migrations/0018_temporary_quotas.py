"""Quota for a time."""

from typing import Any

import peewee
from peewee import SQL, BigAutoField, BigIntegerField, Check, DoubleField, IntegerField, TextField

from limes.db.steps import AGAINST_CHANGES, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds a table; the previous release leaves it as it is."""

    class TemporaryQuota(peewee.Model):
        id = BigAutoField()
        domain_id = IntegerField(index=True)
        project_id = IntegerField(null=True)
        resource_id = IntegerField(index=True)
        state = TextField(constraints=[Check("state IN ('planned', 'active', 'over')")])
        quota = BigIntegerField(constraints=[Check("quota >= 0")])
        before = BigIntegerField(null=True, constraints=[Check("before >= 0")])
        starts_at = DoubleField()
        until = DoubleField()
        due_at = DoubleField(index=True)
        problem = TextField()

        class Meta:
            database = db
            legacy_table_names = False
            table_name = "temporary_quotas"
            constraints = [
                Check("(before IS NULL) = (state = 'planned')"),
                SQL("FOREIGN KEY (domain_id) REFERENCES domains (id) ON DELETE CASCADE"),
                SQL("FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE"),
                SQL("FOREIGN KEY (resource_id) REFERENCES resources (id) ON DELETE CASCADE"),
            ]

    db.create_tables([TemporaryQuota])
    db.execute_sql("CREATE UNIQUE INDEX temporary_quotas_project ON temporary_quotas (project_id, resource_id)")
    db.execute_sql(
        "CREATE UNIQUE INDEX temporary_quotas_domain ON temporary_quotas (domain_id, resource_id)"
        " WHERE project_id IS NULL"
    )


STEPS = (Step(up, {"domains": AGAINST_CHANGES, "projects": AGAINST_CHANGES, "resources": AGAINST_CHANGES}),)
