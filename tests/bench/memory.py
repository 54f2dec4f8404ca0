"""`python -m tests.bench.memory [REQUESTS]`: the memory of one worker of the Limes API over mixed requests.

Prints a line for each twentieth of them, by default of 100,000: it has to become flat. A growth per request that goes on
is a leak; one that ends is a cache that fills, or the heap that finds its size.
"""

import contextlib
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.bench.client import Client
from tests.bench.limes import data
from tests.bench.limes.__main__ import DOMAIN
from tests.bench.limes.server import TOKEN, config, prepare, running_api
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server
from tests.support.processes import children_of

_CLIENTS = 4
_LINES = 20


def ask(port: int, requests: int, seed: int) -> None:
    """Sends requests of many kinds, good and bad ones, over connections that come and go."""
    rng = random.Random(seed)
    for number in range(requests):
        if number % 50 == 0:
            client, stranger = Client(port, TOKEN), Client(port, f"made-up-{rng.random()}")
        project = f"{DOMAIN}/projects/{data.project_uuid(rng.randint(1, 1000))}"
        service = rng.choice(data.SERVICES)
        kind = rng.random()
        with contextlib.suppress(ConnectionError):
            if kind < 0.5:
                client("GET", f"{project}?service={service}")
            elif kind < 0.6:
                client("GET", f"{project}?made-up={rng.random()}")
            elif kind < 0.7:
                resources = [{"name": f"{service}-1", "quota": rng.randint(1, 1000), "unit": ""}]
                body = {"project": {"services": [{"type": service, "resources": resources}]}}
                client("POST", f"{project}/simulate-put", body)
            elif kind < 0.75:
                client("GET", f"/v1/clusters/current?resource={service}-{rng.randint(0, 9)}")
            elif kind < 0.8:
                client("GET", f"{project}/commitments")
            elif kind < 0.85:
                client("GET", f"/v1/made-up/{rng.random()}")
            elif kind < 0.9:
                client(f"M{rng.randint(0, 10**9)}", project)
            elif kind < 0.95:
                stranger("GET", project)
            else:
                client(
                    "PUT", project, {"project": {"services": [{"type": f"made-up-{rng.random()}", "resources": []}]}}
                )


def resident(pid: int) -> float:
    """The memory of the workers below `pid`, in MiB."""
    texts = (Path(f"/proc/{child}/status").read_text() for child in children_of(pid))
    return sum(int(text.split("VmRSS:")[1].split()[0]) for text in texts) / 1024


def main() -> int:
    """Prints the curve."""
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_CLIENTS) as pool:
        url = server.url(server.create_database())
        prepare(url)
        settings = config(url)
        settings["api"]["workers"] = 1
        print(f"{'requests':>9} {'MiB':>8} {'seconds':>8}")
        each = total // _LINES // _CLIENTS
        with running_api(settings, Path(folder)) as api:
            started = time.perf_counter()
            print(f"{0:>9} {resident(api.process.pid):8.1f} {0:8.1f}", flush=True)
            for line in range(1, _LINES + 1):
                list(pool.map(partial(ask, api.port, each), range(line * 100, line * 100 + _CLIENTS)))
                spent = time.perf_counter() - started
                print(f"{line * each * _CLIENTS:>9} {resident(api.process.pid):8.1f} {spent:8.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
