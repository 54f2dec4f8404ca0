"""The Placement half's tables. They may live in one database with the Limes half's, or in one of their own."""

from pathlib import Path

from limes.db.migrate import Migrations

placement_migrations = Migrations("Placement", Path(__file__).parent, "placement_schema_migrations")
