"""A backend whose answers are endless, or compressed to a thousandth, takes neither the memory of the collector, nor its
work for others. The collector is a real process, with eight threads for this backend."""

import contextlib
import itertools
import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.support.processes import ServerProcess, eventually, free_port, http_answers
from tests.support.web_server import Answer, Request, web_server

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024
MOST = 600
"""MiB: what the process may have taken at its peak. The chart gives it 1 GiB."""
THREADS, PROJECTS = 8, 40
SCRAPED = (
    "SELECT COUNT(*) FROM project_services ps JOIN services s ON s.id = ps.service_id"
    " WHERE s.type = 'good' AND ps.scraped_at IS NOT NULL"
)
FAILED = "SELECT COUNT(*) FROM project_services WHERE scrape_error <> ''"
INFO = {
    "version": 1,
    "resources": {"things": {"unit": "", "topology": "az-aware", "hasCapacity": True, "hasQuota": True}},
}
REPORT = {"infoVersion": 1, "resources": {"things": {"quota": 10, "perAZ": {"az-one": {"usage": 1}}}}}


def compressed(begin: bytes, repeated: bytes) -> bytes:
    """So much JSON that it has just less than the 64 MiB of `answers.max_size`."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    times = (63 * MIB) // len(repeated)
    return packer.compress(begin) + b"".join(packer.compress(repeated) for _ in range(times)) + packer.flush()


BODIES: dict[str, bytes | None] = {"endless": None, "one text": compressed('["\N{GRINNING FACE}'.encode(), b"x" * MIB)}


def settings(folder: Path, database_url: str, bad: str, good: str) -> Path:
    services = []
    for name, url, threads in (("bad", bad, THREADS), ("good", good, 1)):
        info = folder / f"{name}.json"
        info.write_text(json.dumps(INFO))
        connection = {"endpoint": url, "auth": {"type": "none"}, "info_file": str(info)}
        services.append(
            {"service_type": name, "type": "liquid", "threads": threads, "params": {"area": "a", **connection}}
        )
    projects = [{"id": f"p{number}", "name": f"p{number}", "parent_id": "d"} for number in range(PROJECTS)]
    document = {
        "availability_zones": ["az-one"],
        "database": {"url": database_url},
        "discovery": {"method": "static", "params": {"domains": [{"id": "d", "name": "d", "projects": projects}]}},
        "identity": {"method": "sample"},
        "services": services,
        "collector": {
            "listen": f"127.0.0.1:{free_port()}",
            "poll_interval": 0.2,
            "scrape_interval": 1,
            "scrape_retry": 0.2,
            "scrape_retry_max": 0.2,
        },
        "circuit_breaker": {"failures": 5, "pause": 600, "pause_max": 600},
    }
    path = folder / "limes.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def collector(config: Path, log: Path) -> ServerProcess:
    url = f"http://{yaml.safe_load(config.read_text())['collector']['listen']}"
    return ServerProcess(
        [sys.executable, "-m", "limes", "collect"],
        ready=http_answers(f"{url}/healthcheck"),
        log=log,
        env={"LIMES_CONFIG": str(config), "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
    )


def peak(pid: int) -> int:
    """MiB of memory that a process has had at most."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.long
@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_the_collector_works_on(kind: str, tmp_path: Path, database_url_with: Callable[..., str]) -> None:
    """Some ten seconds each: a collector is started, and unpacks hundreds of MiB."""
    database_url = database_url_with(limes_migrations)

    def bad(request: Request) -> Answer:
        body = BODIES[kind]
        if body is None:
            return Answer(200, itertools.chain([b"["], itertools.repeat(b"{}," * 20_000)))
        return Answer(200, body, {"Content-Encoding": "gzip"})

    with web_server(bad) as backend, web_server(lambda _: Answer(200, json.dumps(REPORT).encode())) as other:
        config = settings(tmp_path, database_url, backend.url, other.url)
        with (
            collector(config, tmp_path / "collector.log") as process,
            contextlib.closing(Engine(database_url)) as engine,
        ):
            eventually("what others have is scraped", lambda: engine.rows(SCRAPED) == [(PROJECTS,)])
            eventually("the circuit is open", lambda: "service bad: no answer 5 times" in process.log_text())
            eventually("all requests have ended", lambda: engine.rows(FAILED) == [(len(backend.requests),)])
            (errors,) = zip(
                *engine.rows("SELECT scrape_error FROM project_services WHERE scrape_error <> ''"), strict=True
            )
            assert [error for error in errors if "(answers." not in error] == []
            assert len(backend.requests) <= 5 + THREADS
            assert peak(process.pid) < MOST
