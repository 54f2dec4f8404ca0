"""`make bench-metrics`: the memory and the time of `limes metrics` in a cloud with more than 1.5 million series.

Scrapes a real process several times, plain and with gzip, one after the other and several at once: with a reading
of the database for each, with a common one, and without figures of single projects. The last line is the number of figures that miss their bar. `python -m tests.bench.metrics 3` takes three domains (a thousand projects each).
"""

import re
import statistics
import sys
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import requests
import yaml

from tests.bench.awake import processors_awake
from tests.bench.limes import data
from tests.bench.limes.server import ROOT, config, prepare
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server
from tests.support.processes import ServerProcess, free_port, http_answers

_DOMAINS = 7
_ROUNDS = 5
_AT_ONCE = 4
_MOST_MEMORY = 300
"""MiB."""
_WAYS = {
    "each scrape reads the database": {"max_age": 0},
    "scrapes share a reading": {"max_age": 3600},
    "without figures of single projects": {"max_age": 0, "projects": False},
}
"""Settings of `metrics`."""


@dataclass(frozen=True)
class Scrape:
    """What one answer was like."""

    seconds: float
    sent: int
    """Bytes on the wire."""
    size: int
    series: int


def scrape(url: str, encoding: str) -> Scrape:
    """Reads an answer as it comes, as Prometheus does."""
    start = time.perf_counter()
    sent = size = series = 0
    unpack = zlib.decompressobj(31) if encoding == "gzip" else None
    with requests.get(url, headers={"Accept-Encoding": encoding}, stream=True, timeout=600) as answer:
        assert answer.status_code == 200
        assert answer.headers.get("Content-Encoding", "identity") == encoding
        for part in answer.raw.stream(1 << 20, decode_content=False):
            sent += len(part)
            text = unpack.decompress(part) if unpack else part
            size += len(text)
            series += text.count(b"\n") - len(re.findall(rb"^# ", text, re.MULTILINE))
    return Scrape(time.perf_counter() - start, sent, size, series)


def peak(pid: int) -> float:
    """The largest memory of the process so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(process: ServerProcess, url: str) -> int:
    """Prints the figures. Returns how many miss their bar."""
    print(f"memory at the start: {peak(process.pid):.0f} MiB", flush=True)
    for encoding in ("identity", "gzip"):
        found = [scrape(url, encoding) for _ in range(_ROUNDS)]
        median, last = statistics.median(one.seconds for one in found), found[-1]
        print(
            f"{encoding}: {last.series:,} series, {last.size / 1e6:.0f} MB, {last.sent / 1e6:.0f} MB sent,"
            f" {median:.1f} s (median of {_ROUNDS}), peak memory {peak(process.pid):.0f} MiB",
            flush=True,
        )
    start = time.perf_counter()
    threads = [threading.Thread(target=scrape, args=(url, "gzip")) for _ in range(_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = peak(process.pid)
    print(f"{_AT_ONCE} at once: {time.perf_counter() - start:.1f} s, peak memory {memory:.0f} MiB")
    return int(memory > _MOST_MEMORY)


def main() -> int:
    """Loads the cloud, and measures."""
    domains = int(sys.argv[1]) if len(sys.argv) > 1 else _DOMAINS
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, processors_awake():
        url = server.url(server.create_database())
        prepare(url, data.Size(domains=domains, commitments=4000 * domains))
        missed = 0
        for what, settings in _WAYS.items():
            print(f"\n{what}: {settings}")
            listen = f"127.0.0.1:{free_port()}"
            file = Path(folder) / "limes.yaml"
            file.write_text(yaml.safe_dump({**config(url), "metrics": {"listen": listen, **settings}}))
            process = ServerProcess(
                [sys.executable, "-m", "limes", "metrics"],
                ready=http_answers(f"http://{listen}/healthcheck"),
                log=Path(folder) / "metrics.log",
                env={"LIMES_CONFIG": str(file), "PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
                cwd=Path(folder),
            )
            with process:
                missed += measure(process, f"http://{listen}/metrics")
    print(f"beyond the bar: {missed}")
    return missed


if __name__ == "__main__":
    sys.exit(main())
