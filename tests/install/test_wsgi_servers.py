"""Other WSGI servers than gunicorn, started with the examples in config/wsgi: uWSGI, and Apache with mod_wsgi."""

import os
import pwd
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.setup.needs import APACHE, UWSGI
from tests.support.limes_process import ROOT, run_here
from tests.support.machine import require
from tests.support.processes import ServerProcess, eventually, free_port, scratch_folder
from tests.web.house import API, KINDS, LIQUID, PLACEMENT, TOKEN, Kind, configuration

pytestmark = pytest.mark.long
EXAMPLES = ROOT / "config" / "wsgi"
HEADERS = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "placement 1.39"}
MODULES = Path("/usr/lib/apache2/modules")
MOD_WSGI = MODULES / f"mod_wsgi.so-{sys.version_info.major}.{sys.version_info.minor}"
OWNER = "www-data" if os.getuid() == 0 else None
Server = tuple[str, ServerProcess]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a configuration and a database, also for the user whom Apache runs them as."""
    owner = pwd.getpwnam(OWNER).pw_uid if OWNER else None
    with scratch_folder("limes-wsgi-", owner) as folder:
        (folder / "limes.yaml").write_text(yaml.safe_dump(configuration(folder, "127.0.0.1:1")))
        (folder / "metrics").mkdir()
        assert run_here("db", "upgrade", "--config", folder / "limes.yaml").returncode == 0
        if OWNER:
            for file in folder.rglob("*"):
                shutil.chown(file, OWNER)
        yield folder


def answers(url: str) -> Callable[[], bool]:
    """Whether the app behind it does."""

    def ready() -> bool:
        try:
            return requests.get(f"{url}/healthcheck", timeout=5).text == "ok\n"
        except requests.RequestException:
            return False

    return ready


def uwsgi(folder: Path, kind: Kind, **changes: str) -> Server:
    """One of the apps below the path of its name."""
    program = require(UWSGI)
    port = free_port()
    text = (EXAMPLES / "uwsgi-placement.ini").read_text()
    changes = {
        "/placement=limes.wsgi.placement:application": f"/{kind.name}=limes.wsgi.{kind.name}:application",
        "127.0.0.1:8778": f"127.0.0.1:{port}",
        "virtualenv = /opt/limes": f"virtualenv = {sys.prefix}",
        "find /run/limes-placement": f"find {folder}/metrics",
        "processes = 4": "processes = 2",
        **changes,
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "uwsgi.ini").write_text(text)
    url = f"http://127.0.0.1:{port}/{kind.name}"
    env = {
        "LIMES_CONFIG": f"{folder}/limes.yaml",
        "LIMES_LIQUID_SERVICE": "storage",
        "PROMETHEUS_MULTIPROC_DIR": f"{folder}/metrics",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}",
    }
    return url, ServerProcess(
        [program, "--ini", folder / "uwsgi.ini"], ready=answers(url), log=folder / "uwsgi.log", env=env
    )


def apache(folder: Path) -> Server:
    """All of the apps, each below the path of its name."""
    port = free_port()
    text = (EXAMPLES / "apache-placement.conf").read_text()
    whole = re.search(r"(?s)    WSGIDaemonProcess.*?GLOBAL\}\n(?=    #)", text)
    assert whole is not None
    sections = "".join(whole[0].replace("placement", kind.name) for kind in KINDS)
    text = text.replace(whole[0], sections).replace("8778", f"127.0.0.1:{port}").replace("*:127.0.0.1", "127.0.0.1")
    text = text.replace("user=limes group=limes", f"user={OWNER} group={OWNER}" if OWNER else "")
    text = text.replace("processes=4 threads=8", f"processes=2 threads=4 python-path={ROOT}:{ROOT}/plugins")
    text = text.replace("python-home=/opt/limes", f"python-home={sys.prefix}").replace(
        "/opt/limes/share/limes/wsgi", str(EXAMPLES)
    )
    modules = "".join(
        f"LoadModule {name}_module {MODULES}/mod_{name}.so\n"
        for name in ("mpm_event", "authz_core", "reqtimeout", "headers")
    )
    (folder / "apache.conf").write_text(
        f"ServerRoot {folder}\nServerName localhost\nPidFile {folder}/pid\nMutex file:{folder}\nErrorLog {folder}/error.log\n"
        + (f"User {OWNER}\nGroup {OWNER}\n" if OWNER else "")
        + f"{modules}LoadModule wsgi_module {MOD_WSGI}\nWSGISocketPrefix {folder}/wsgi\n{text}"
    )
    url = f"http://127.0.0.1:{port}"
    env = {"LIMES_CONFIG": f"{folder}/limes.yaml", "LIMES_LIQUID_SERVICE": "storage"}
    command = [require(APACHE), "-f", folder / "apache.conf", "-DFOREGROUND"]
    return url, ServerProcess(command, ready=answers(f"{url}/placement"), log=folder / "error.log", env=env)


def ask(method: str, url: str, **more: Any) -> requests.Response:
    return requests.request(method, url, headers=HEADERS | more.pop("headers", {}), timeout=200, **more)


def try_placement(url: str) -> None:
    """Links, bodies of all kinds, errors: as under gunicorn."""
    root = "/" + url.rpartition("/")[2]
    assert ask("GET", url + "/").json()["versions"][0]["id"] == "v1.0"
    made = ask("POST", f"{url}/resource_providers", json={"name": "host"})
    assert made.status_code == 200
    path = made.json()["links"][0]["href"]
    assert path == f"{root}/resource_providers/{made.json()['uuid']}"
    assert made.headers["location"].endswith(path)
    inventories = ["{", '"resource_provider_generation": 0, "inventories": {"VCPU":', ' {"total": 8}}}']
    put = ask(
        "PUT",
        f"{url}/resource_providers/{made.json()['uuid']}/inventories",
        data=(part.encode() for part in inventories),
    )
    assert put.status_code == 415, "no content type"
    put = ask(
        "PUT",
        f"{url}/resource_providers/{made.json()['uuid']}/inventories",
        data=(part.encode() for part in inventories),
        headers={"Content-Type": "application/json"},
    )
    assert (put.status_code, put.json()["inventories"]["VCPU"]["total"]) == (200, 8), "a body in chunks"
    missing = ask("GET", f"{url}/resource_providers/c0000000-0000-4000-8000-000000000001")
    assert (missing.status_code, missing.json()["errors"][0]["status"]) == (404, 404)
    assert (
        ask(
            "POST",
            f"{url}/resource_providers",
            data=b"[" + 11_000_000 * b" ",
            headers={"Content-Type": "application/json"},
        ).status_code
        == 413
    )
    assert ask("GET", f"{url}/resource_providers?name=%C3%A4%2Fx").json() == {"resource_providers": []}
    assert requests.get(f"{url}/resource_providers", timeout=200).status_code == 401
    assert len(ask("GET", f"{url}/traits").content) > 5000


def try_limes(url: str) -> None:
    assert ask("GET", f"{url}/v1/domains").json() == {"domains": []}
    assert ask("GET", url + "/").json()["versions"][0]["links"][0]["href"] == f"{url}/v1"
    refused = ask("PUT", f"{url}/v1/domains/d1", data=b"{")
    assert refused.status_code in (400, 404)


def try_liquid(url: str) -> None:
    assert len(ask("GET", f"{url}/v1/info").json()["resources"]) == 500


TRIALS = {API: try_limes, PLACEMENT: try_placement, LIQUID: try_liquid}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_uwsgi(kind: Kind, folder: Path) -> None:
    url, process = uwsgi(folder, kind)
    with process:
        TRIALS[kind](url)
        for _ in range(20):
            ask("GET", url + kind.get)
        counts = {requests.get(f"{url}/metrics", timeout=200).text.count("\n") > 10 for _ in range(5)}
        assert counts == {True}
        os.kill(process.pid, signal.SIGTERM)
        eventually("SIGTERM ends it", lambda: not process.is_running())
    assert "Traceback" not in process.log_text()


def test_uwsgi_that_forks_first(folder: Path) -> None:
    """As many set it; in the example, each process makes an app of its own after the fork."""
    url, process = uwsgi(folder, PLACEMENT, **{"need-app = true": "need-app = true\nlazy-apps = true"})
    with process:
        try_placement(url)
        for _ in range(20):
            assert ask("GET", url + PLACEMENT.get).status_code == 200


def test_metrics_are_those_of_all_processes(folder: Path) -> None:
    url, process = uwsgi(folder, PLACEMENT)
    with process:
        for _ in range(40):
            assert ask("GET", f"{url}/resource_providers").status_code == 200
        lines = requests.get(f"{url}/metrics", timeout=200).text.splitlines()
    counted = [
        line
        for line in lines
        if line.startswith("httpmux_response_duration_seconds_count") and 'resource_providers"' in line
    ]
    assert [float(line.rpartition(" ")[2]) for line in counted] == [40]


def test_a_mistake_stops_the_start(folder: Path) -> None:
    (folder / "limes.yaml").write_text("placement: {wokers: 2}")
    _, process = uwsgi(folder, PLACEMENT)
    with pytest.raises(AssertionError, match="ended with code"):
        process.start()
    assert "wokers" in process.log_text()


def test_apache_with_mod_wsgi(folder: Path) -> None:
    require(APACHE)
    if not MOD_WSGI.exists():
        pytest.skip(f"Debian's mod_wsgi is for another Python than {sys.version.split()[0]}: it is not tried")
    url, process = apache(folder)
    with process:
        for kind in KINDS:
            TRIALS[kind](f"{url}/{kind.name}")
        os.kill(process.pid, signal.SIGTERM)
        eventually("SIGTERM ends it", lambda: not process.is_running())
    assert "Traceback" not in process.log_text()
