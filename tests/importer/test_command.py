"""`limes import-limes` as it is run."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from limes.app.cli import main
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.importer.go_limes import GoLimes
from tests.support.databases import MigratedUrlFactory, UrlFactory

DOMAINS = [
    {
        "id": f"uuid-for-{domain}",
        "name": domain,
        "projects": [{"id": f"uuid-for-{name}", "name": name, "parent_id": f"uuid-for-{domain}"} for name in names],
    }
    for domain, names in (("germany", ("berlin", "dresden")), ("france", ("paris",)))
]
ORIGINAL = Path(__file__).parent / "original.yaml"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("LIMES_CONFIG", "")

    def run(*arguments: Any) -> tuple[int, Any, Any]:
        code = main(["import-limes", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_configuration_goes_to_standard_output_and_notes_beside_it(run: Callable[..., Any]) -> None:
    code, out, err = run("--config-from", ORIGINAL)
    assert code == 0
    assert yaml.safe_load(out)["availability_zones"] == ["west-1", "west-2"]
    assert "services[6]" in err
    assert "What is wrong with the result as it stands: nothing" in err


def test_a_configuration_goes_into_a_new_file_that_can_be_checked(
    run: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "limes.yaml"
    code, out, _ = run("--config-from", ORIGINAL, "--output", target)
    assert code == 0
    assert "services[6]" in out
    for key in ("AUTH_URL", "USERNAME", "PASSWORD", "PROJECT_NAME"):
        monkeypatch.setenv(f"OS_{key}", "http://127.0.0.1:1/v3" if key == "AUTH_URL" else "x")
    assert main(["config", "check", "--config", str(target)]) == 0, capsys.readouterr()
    before = target.read_text()
    code, _, err = run("--config-from", ORIGINAL, "--output", target)
    assert (code, target.read_text()) == (1, before)
    assert err == f"limes: --output: cannot write {target}: File exists\n"


def test_a_configuration_as_json(run: Callable[..., Any], tmp_path: Path) -> None:
    broken = yaml.safe_load(ORIGINAL.read_text()) | {"availability_zones": []}
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(broken, default_flow_style=False))
    code, out, _ = run("--config-from", tmp_path / "old.yaml", "--json")
    document = json.loads(out)
    assert code == 1
    assert {one["kind"] for one in document["notes"]} == {"dropped", "changed", "to do"}
    assert any("availability_zones" in one for one in document["problems"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--config-from", ORIGINAL, "--apply"), "--apply goes with --database"),
        (("--config-from", ORIGINAL, "--skip-unknown"), "--skip-unknown goes with --database"),
        (("--database", "postgresql://127.0.0.1:1/x", "--output", "limes.yaml"), "--output goes with --config-from"),
        (("--config-from", "gone.yaml"), "gone.yaml: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said(run: Callable[..., Any], arguments: tuple[Any, ...], problem: str) -> None:
    assert run(*arguments) == (1, "", f"limes: {problem}\n")


@pytest.mark.postgresql
class TestDatabase:
    @pytest.fixture
    def source(self, postgres_url_factory: UrlFactory) -> Iterator[GoLimes]:
        made = GoLimes(postgres_url_factory(), 37)
        yield made
        made.close()

    @pytest.fixture
    def config(self, database_url_with: MigratedUrlFactory, tmp_path: Path) -> tuple[Any, Any]:
        document = {
            "availability_zones": ["az-one", "az-two"],
            "database": {"url": database_url_with(limes_migrations)},
            "discovery": {"method": "static", "params": {"domains": DOMAINS}},
            "services": [
                {"service_type": name, "type": "static", "params": {"area": area, "resources": resources}}
                for name, area, resources in (
                    ("compute", "compute", {"cores": {"quota": 0}, "ram": {"unit": "MiB", "quota": 0}}),
                    ("volume", "storage", {"capacity": {"unit": "GiB", "quota": 0}}),
                )
            ],
            "identity": {"method": "sample"},
        }
        path = tmp_path / "limes.yaml"
        path.write_text(yaml.safe_dump(document))
        return path, document["database"]["url"]

    def test_dry_run_and_then(self, run: Callable[..., Any], source: GoLimes, config: tuple[Any, Any]) -> None:
        path, url = config
        code, out, err = run("--database", source.url, "--config", path)
        assert code == 1
        assert "compute/gpus is not configured here: usage 1" in out
        assert out.rstrip().endswith("Nothing was changed.")
        options = ("--database", source.url, "--config", path, "--skip-unknown")
        code, out, err = run(*options)
        assert code == 0
        assert "This was a dry run" in out
        assert "usages: 10" in err.splitlines()
        engine = Engine(url)
        assert engine.rows("SELECT COUNT(*) FROM projects") == [(0,)]
        code, out, _ = run(*options, "--apply", "--json")
        document = json.loads(out)
        assert (code, document["applied"], document["counts"]["commitments"]) == (0, True, 6)
        assert engine.rows("SELECT COUNT(*) FROM projects") == [(3,)]
        code, out, _ = run(*options, "--apply")
        assert code == 0
        assert out.rstrip().endswith("Everything is here already. Nothing was changed.")
        engine.close()

    def test_a_collector_goes_on_from_there(
        self, run: Callable[..., Any], source: GoLimes, config: tuple[Any, Any]
    ) -> None:
        """It finds the same projects, scrapes them, ends what is over, confirms what fits, and leaves quotas alone."""
        path, url = config
        document = yaml.safe_load(path.read_text())
        # as much as the original knew of: what is committed fits before a scrape and after it
        document["services"][0]["params"]["resources"]["cores"]["usage"] = {"az-one": 5}
        path.write_text(yaml.safe_dump(document))
        source.run("UPDATE project_commitments SET created_at = NOW() - INTERVAL '9 days'")
        source.run("UPDATE project_commitments SET expires_at = NOW() + INTERVAL '3 days'")
        source.run("UPDATE project_commitments SET expires_at = NOW() - INTERVAL '3 days' WHERE id IN (4, 5, 7)")
        assert run("--database", source.url, "--config", path, "--skip-unknown", "--apply")[0] == 0
        engine = Engine(url)
        quotas = "SELECT project_id, resource_id, quota FROM project_resources WHERE quota > 0 ORDER BY 1, 2"
        before = engine.rows(quotas)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "limes", "collect", "--once", "--config", path]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stdout + done.stderr
        assert engine.rows(quotas) == before
        assert engine.rows("SELECT COUNT(*) FROM projects") == [(3,)]
        assert engine.rows("SELECT COUNT(*) FROM project_services WHERE scraped_at < 10000 OR scrape_error <> ''") == [
            (0,)
        ]
        statuses = dict(engine.rows("SELECT id, status FROM project_commitments"))
        assert (statuses[4], statuses[5], statuses[7], statuses[8]) == ("expired", "expired", "expired", "confirmed")
        events = [event for (event,) in engine.rows("SELECT event FROM commitment_events ORDER BY number")]
        assert (events.count("created"), events.count("expired"), events.count("confirmed")) == (4, 3, 1)
        engine.close()

    def test_the_url_from_the_environment(
        self, run: Callable[..., Any], source: GoLimes, config: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LIMES_IMPORT_DATABASE_URL", source.url)
        code, out, _ = run("--database", "--config", config[0], "--skip-unknown")
        assert code == 0, out

    def test_a_table_that_is_missing(self, run: Callable[..., Any], source: GoLimes, config: tuple[Any, Any]) -> None:
        source.run("DROP TABLE project_rates")
        code, _, err = run("--database", source.url, "--config", config[0], "--skip-unknown")
        assert code == 1
        assert 'limes: nothing was imported: relation "project_rates" does not exist' in err
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        ("url", "message"),
        [
            ("postgresql://limes:geheim@127.0.0.1:1/limes", "database limes on 127.0.0.1 does not answer"),
            ("sqlite:///x.db", "--database: the Go Limes has PostgreSQL only"),
            ("", "--database: give the URL"),
        ],
    )
    def test_mistakes(self, run: Callable[..., Any], config: tuple[Any, Any], url: str, message: str) -> None:
        code, _, err = run("--database", url, "--config", config[0])
        assert code == 1
        assert message in err
        assert "geheim" not in err
