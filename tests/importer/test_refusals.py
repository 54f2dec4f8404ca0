"""What an import leaves behind, and what stops it."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.kernel.errors import ConfigError
from tests.api.world import SERVICES
from tests.importer.conftest import Case
from tests.support.databases import UrlFactory

pytestmark = pytest.mark.postgresql


class TestWhatHasNoPlace:
    @pytest.mark.parametrize("version", [37, 69, 82])
    def test_a_resource_that_is_not_configured(
        self, go_limes: Callable[..., Any], target: Engine, version: int
    ) -> None:
        source = go_limes(version)
        outcome = Case(source, target, services=SERVICES[:1]).run()
        assert outcome.problems == (
            "volume/capacity is not configured here: quota 10, usage 3 (configure it, or leave it behind with"
            " --skip-unknown)",
        )
        outcome = Case(source, target, services=SERVICES[:1]).run(skip_unknown=True)
        assert outcome.applied
        assert outcome.notes == ("volume/capacity is not configured here: quota 10, usage 3",)
        assert target.rows("SELECT type FROM services") == [("compute",)]

    def test_a_resource_that_nobody_uses_is_only_noted(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes()
        source.run("UPDATE project_resources SET quota = 0 WHERE name = 'capacity'")
        source.run("UPDATE project_az_resources SET usage = 0 WHERE usage = 3 AND az = 'any'")
        outcome = Case(source, target, services=SERVICES[:1]).run()
        assert outcome.applied
        assert outcome.notes == ("volume/capacity is not configured here; nothing of it is in use",)

    @pytest.mark.parametrize("version", [37, 82])
    def test_a_zone_that_is_not_configured(self, go_limes: Callable[..., Any], target: Engine, version: int) -> None:
        outcome = Case(go_limes(version), target, zones=("az-one",)).run()
        assert outcome.problems == (
            "the availability zone 'az-two' is in use there, and not in availability_zones here",
        )

    def test_quota_of_what_tracks_none(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes()
        source.run("UPDATE project_resources SET quota = 5 WHERE name = 'gpus'")
        (problem,) = Case(source, target).run().problems
        assert problem.startswith("compute/gpus has quota there (5), and tracks none here")

    @pytest.mark.parametrize(("version", "table"), [(58, "cluster_resources"), (82, "resources")])
    def test_another_unit(self, go_limes: Callable[..., Any], target: Engine, version: int, table: str) -> None:
        source = go_limes(version)
        source.run(f"UPDATE {table} SET unit = 'GiB' WHERE name = 'ram'")
        assert Case(source, target).run().problems == ("compute/ram is measured in GiB there, and in MiB here",)

    def test_rates_and_what_belongs_to_the_other_model(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes(58)
        service = source.services[11, "compute"]
        source.run("INSERT INTO project_rates VALUES (%s, 'api', 1, 1, '1')", service)
        source.run("UPDATE project_az_resources SET quota = 1, historical_usage = '{\"t\":[1]}' WHERE az = 'az-two'")
        source.run("UPDATE project_resources SET max_quota_from_outside_admin = 5 WHERE name = 'ram'")
        source.insert("project_mail_notifications", subject="Hi")
        found = {text.partition(":")[0].partition(",")[0]: n for text, n in Case(source, target).run().dropped.items()}
        assert found == {
            "rates of projects": 1,
            "quotas by AZ that do not add up to the project's quota": 2,
            "historical usage where people set quota here": 2,
            "mails that wait to be sent": 1,
            "max_quota and forbid_autogrowth where people set quota here": 2,
        }

    def test_deleted_commitments(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes(82)
        source.run("UPDATE project_commitments SET deleted_at = NOW(), status = 'deleted' WHERE id = 8")
        outcome = Case(source, target).run()
        assert outcome.applied
        assert outcome.dropped == {"commitments that were deleted": 1}
        assert target.rows("SELECT COUNT(*) FROM project_commitments") == [(5,)]

    def test_rows_that_refer_to_nothing(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes(69)
        source.run("ALTER TABLE project_services DROP CONSTRAINT project_services_service_id_fkey")
        source.run("UPDATE project_services SET service_id = 99 WHERE project_id = 13")
        assert Case(source, target).run().problems == ("2 rows of services in the source refer to nothing",)


class TestRefused:
    @pytest.mark.parametrize(
        ("version", "advice"),
        [
            (35, "let a Go Limes of early 2024 start on it once"),
            (59, "let its own Limes finish the migration"),
            (83, "use a newer release of this Limes"),
        ],
    )
    def test_a_schema_that_nobody_knows(
        self, go_limes: Callable[..., Any], target: Engine, version: int, advice: str
    ) -> None:
        source = go_limes(37)
        source.run("UPDATE schema_migrations SET version = %s", version)
        with pytest.raises(ConfigError, match=f"has version {version}, but only 36 to 82, without 59.*{advice}"):
            Case(source, target).run()

    def test_a_migration_that_has_failed(self, go_limes: Callable[..., Any], target: Engine) -> None:
        source = go_limes(37)
        source.run("UPDATE schema_migrations SET dirty = TRUE")
        with pytest.raises(ConfigError, match="migration 37 has failed half-way"):
            Case(source, target).run()

    def test_something_else(self, postgres_url_factory: UrlFactory, target: Engine) -> None:
        class Other:
            url = postgres_url_factory()

        with pytest.raises(ConfigError, match="is none of the Go Limes"):
            Case(Other(), target).run()
