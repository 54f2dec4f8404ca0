"""A new user: the wheel in an empty virtual environment, and `limes serve` in an empty folder."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.install.conftest import commands_of_the_page
from tests.install.installation import Installation
from tests.support.processes import ServerProcess, free_port

pytestmark = pytest.mark.long
TOKEN = {"X-Auth-Token": "cloud-admin"}


class Trial:
    """`limes serve` as the page says, without any configuration, on free ports."""

    def __init__(self, installation: Installation, folder: Path) -> None:
        self._installation = installation
        self.folder = folder
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(3)]
        self.api, self.placement = (f"http://{address}" for address in addresses[:2])
        names = ("API", "PLACEMENT", "COLLECTOR_METRICS")
        self.env = {f"LIMES_{name}_LISTEN_ADDRESS": address for name, address in zip(names, addresses, strict=True)}

    @contextmanager
    def serve(self, *options: str) -> Iterator[str]:
        """Yields what it prints until it is ready; Ctrl-C ends it with exit code 0."""
        log = self.folder.parent / "serve.log"
        log.unlink(missing_ok=True)
        command = [self._installation.bin("limes"), "serve", *options]
        env = {**dict.fromkeys(("PYTHONPATH", "LIMES_CONFIG"), ""), **self._installation.env, **self.env}

        def ready() -> bool:
            """Whether the last of the commands to try is printed."""
            return log.is_file() and "/usages?" in log.read_text()

        with ServerProcess(command, ready=ready, log=log, env=env, cwd=self.folder, timeout=180) as process:
            yield log.read_text()
            os.kill(process.pid, signal.SIGINT)
            assert process.stop(60) == 0

    def providers(self) -> list[str]:
        answer = requests.get(f"{self.placement}/resource_providers", headers=TOKEN, timeout=120)
        return [provider["name"] for provider in answer.json()["resource_providers"]]


@pytest.fixture
def trial(installation: Installation, tmp_path: Path) -> Trial:
    begin, _, serve = commands_of_the_page("test_empty_folder.py").rstrip().rpartition("\n")
    assert begin.splitlines() == ["mkdir try-limes", "cd try-limes"]
    assert serve == "/opt/limes/bin/limes serve"
    (tmp_path / "try-limes").mkdir()
    return Trial(installation, tmp_path / "try-limes")


def test_limes_serve_in_an_empty_folder(installation: Installation, trial: Trial) -> None:
    with trial.serve() as printed:
        quickstart = next(
            installation.folder.glob("lib/python*/site-packages/limes/app/commands/serve/quickstart.yaml")
        )
        assert f"Configuration   built in: {quickstart}\n" in printed
        assert f"Data            {trial.folder}/var/quickstart.db\n" in printed
        assert "`limes config init` writes a configuration for your own cloud." in printed
        assert f"Dashboard       {trial.api}/ui\n" in printed
        cluster = requests.get(f"{trial.api}/v1/clusters/current", headers=TOKEN, timeout=120).json()["cluster"]
        cores = next(
            one
            for service in cluster["services"]
            for one in service["resources"]
            if (service["type"], one["name"]) == ("compute", "cores")
        )
        assert (cores["capacity"], cores["domains_quota"]) == (992, 300), "our own Placement, though on another port"
        assert "text/html" in requests.get(f"{trial.api}/ui/", timeout=120).headers["Content-Type"]
        env = {**installation.env, **trial.env, "LIMES_CONFIG": str(quickstart)}
        assert json.loads(run(installation, trial, env, "db", "status", "--json"))["databases"]
        made = {"name": "mine"}
        requests.post(f"{trial.placement}/resource_providers", json=made, headers=TOKEN, timeout=120).raise_for_status()
        sample = len(trial.providers()) - 1
    with trial.serve() as printed:
        assert "Loading the sample data" not in printed
        assert "mine" in trial.providers(), "the data stay"
    with trial.serve("--fresh") as printed:
        assert "Deleted var/quickstart.db\n" in printed
        assert "Loading the sample data" in printed
        assert len(trial.providers()) == sample
        assert "mine" not in trial.providers()


def run(installation: Installation, trial: Trial, env: dict[str, str], *command: str) -> str:
    import subprocess

    done = subprocess.run(
        [installation.bin("limes"), *command],
        cwd=trial.folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return done.stdout


def test_without_a_configuration_other_commands_say_where_to_get_one(
    installation: Installation, tmp_path: Path
) -> None:
    done = installation.run("collect", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("limes: there is no configuration file: neither /etc/limes/limes.yaml nor limes.yaml")
    assert "`limes config init`" in done.stderr


def test_the_configuration_to_start_from_is_valid_and_found(installation: Installation, tmp_path: Path) -> None:
    assert installation.run("config", "init", cwd=tmp_path).returncode == 0
    env = {**installation.env, "LIMES_IDENTITY_PASSWORD": "secret"}
    trial = Trial(installation, tmp_path)
    assert run(installation, trial, env, "config", "check").startswith("The configuration is fine: 3 services")
