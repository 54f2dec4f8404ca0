"""What is measured, with the bars: upstream's time over ours."""

import itertools
import json
import statistics
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from limes.placement.search.model import Provider
from tests.bench.client import Client, Script, in_parallel, seconds_of
from tests.bench.placement.clouds import AGGREGATES
from tests.bench.placement.report import Report
from tests.bench.placement.servers import Server

PLAIN = "/allocation_candidates?resources=VCPU:1,MEMORY_MB:1024,DISK_GB:10"
SUBTREE = (
    "/allocation_candidates?resources=DISK_GB:10&resources_A=VCPU:1&resources_B=MEMORY_MB:1024"
    "&same_subtree=_A,_B&group_policy=none"
)
GROUPS = (
    "/allocation_candidates?resources=DISK_GB:10&resources1=VCPU:1,MEMORY_MB:1024&resources2=VCPU:2,MEMORY_MB:512"
    "&group_policy=none"
)
Pair = tuple[Server, Server]
Seconds = list[float]


TURN = 5


def in_turn(servers: Pair, work: Callable[[Client], object], minor: int = 39) -> tuple[Seconds, Seconds]:
    """Times of `work` on both servers, in turns of five, for about eight seconds (5 to 60 times each).

    A server that is asked once in a while answers some tenths of a millisecond later than one that is just at work:
    processors that sleep have to be woken. Turns show both at work; single requests in turn would show mostly that.
    """
    clients = [server.client(minor) for server in servers]
    once = sum(seconds_of(lambda client=client: work(client)) for client in clients)
    times: tuple[Seconds, Seconds] = ([], [])
    for _ in range(max(1, min(60, int(8 / once)) // TURN)):
        for client, taken in zip(clients, times, strict=True):
            taken.extend(seconds_of(lambda client=client: work(client)) for _ in range(TURN))
    return times


def one_by_one(servers: Pair, rounds: int, seconds: Callable[[Server], float]) -> tuple[Seconds, Seconds]:
    """Seconds of something longer on both servers, in turn, so that a busy moment of the host meets both."""
    times: tuple[Seconds, Seconds] = ([], [])
    for _ in range(rounds):
        for server, taken in zip(servers, times, strict=True):
            taken.append(seconds(server))
    return times


def reads(report: Report, servers: Pair, kind: str, providers: Sequence[Provider], large: bool = False) -> None:
    """Reading, on a cloud of `kind`; of a large one only what the bars are about."""
    root = providers[0].uuid
    paths = [
        (f"{PLAIN}", "candidates, no limit", 25 if large else 20, 60 if large else 40),
        (f"{PLAIN}&limit=50", "candidates, limit=50", 150 if large else 40, 400 if large else 100),
    ]
    if not large:
        paths += [
            (f"{PLAIN}&limit=1000", "candidates, limit=1000", 20, 40),
            (f"{PLAIN}&required=HW_CPU_X86_AVX2", "candidates, a required trait", 0, 0),
            (f"{PLAIN}&member_of={AGGREGATES[3]}", "candidates, member_of", 0, 0),
            (f"{PLAIN}&in_tree={root}", "candidates, in_tree", 12, 20),
            (PLAIN.replace("VCPU:1,", "VCPU:100000,"), "candidates, nothing fits", 12, 20),
            (SUBTREE, "candidates, granular, same_subtree", 20, 40),
            (GROUPS, "candidates, granular, 3 groups", 20, 40),
            ("/resource_providers", "provider list", 6, 12),
            ("/resource_providers?resources=VCPU:1", "provider list, with resources=", 6, 12),
            (f"/resource_providers/{root}", "one provider", 5, 8),
            (f"/resource_providers/{root}/usages", "its usages", 5, 8),
            (f"/resource_providers/{root}/inventories", "its inventories", 5, 8),
            (f"/resource_providers/{root}/allocations", "its allocations", 5, 8),
        ]
    for path, name, least, aim in paths:
        times = in_turn(servers, lambda client, path=path: client.get(path))
        sizes = [len(server.client().get(path)) for server in servers]
        report.ratio(f"{name}, {kind}", *times, least, aim)
        if not 0.5 < sizes[0] / sizes[1] < 2:
            report.note(f"bytes: upstream {sizes[0]}, ours {sizes[1]}")


def provider_list(report: Report, servers: Pair, kind: str) -> None:
    times = in_turn(servers, lambda client: client.get("/resource_providers"))
    report.ratio(f"provider list, {kind}", *times, 12, 20)


def _with_disk(path: str, size: int) -> str:
    return path.replace("DISK_GB:10", f"DISK_GB:{size}")


def changing_reads(report: Report, servers: Pair, kind: str, providers: Sequence[Provider]) -> None:
    """Candidates where little or nothing can be taken from the answer before. The bars are our own."""
    sizes = itertools.count(11)
    for path, name in ((PLAIN, "no limit"), (SUBTREE, "granular, same_subtree"), (GROUPS, "granular, 3 groups")):
        times = in_turn(servers, lambda client, path=path: client.get(_with_disk(path, next(sizes))))
        report.ratio(f"candidates, {name}, another amount each time, {kind}", *times, 10, 20)
    clients = {server.port: server.client() for server in servers}
    targets = itertools.cycle(providers[:50])

    def seconds(server: Server) -> float:
        client = clients[server.port]
        status, data = client("PUT", f"/allocations/{uuid.uuid4()}", allocation(next(targets)))
        assert status == 204, data
        return seconds_of(lambda: client.get(PLAIN))

    times = one_by_one(servers, 10, seconds)
    report.ratio(f"candidates, no limit, each after an allocation, {kind}", *times, 10, 20)


def consumers(report: Report, servers: Pair, providers: Sequence[Provider]) -> None:
    """One consumer's allocations and a project's usages."""
    consumer = str(uuid.uuid4())
    for server in servers:
        status, data = server.client()("PUT", f"/allocations/{consumer}", allocation(providers[0]))
        assert status == 204, data
    times = in_turn(servers, lambda client: client.get(f"/allocations/{consumer}"))
    report.ratio("one consumer's allocations", *times, 5, 8)
    # from 1.38 upstream fails on PostgreSQL
    times = in_turn(servers, lambda client: client.get("/usages?project_id=project"), 37)
    report.ratio("project usages", *times, 5, 8)


def gets(client: Client, paths: Sequence[str]) -> Script:
    for request in [client.encode("GET", path) for path in paths]:
        reply = yield request
        assert reply[0] == 200, reply


def parallel_reads(report: Report, servers: Pair, kind: str) -> None:
    """Four clients at once; the time of five requests each."""

    requests = [f"{PLAIN}&limit=1000"] * 5
    times = one_by_one(
        servers,
        5,
        lambda server: in_parallel([server.client() for _ in range(4)], lambda client, _: gets(client, requests)),
    )
    report.ratio(f"candidates, limit=1000, 4 clients, 20 requests, {kind}", *times, 15, 40)


def throughput(report: Report, servers: Pair, workers: int, providers: Sequence[Provider]) -> None:
    """Sixteen clients that read as nova does, each something else: what is small, and with candidates among it."""
    small = [
        f"/resource_providers/{providers[number].uuid}{part}"
        for number, part in enumerate(("", "/inventories", "/usages", "/allocations", "/traits", "/aggregates"))
    ]
    small += [f"/allocations/{uuid.UUID(int=1)}", "/usages?project_id=project"]
    for name, paths, steps in (("small reads", small, 48), ("mixed reads", [f"{PLAIN}&limit=50", *small[1:]], 16)):

        def work(client: Client, number: int, paths: list[str] = paths, steps: int = steps) -> Script:
            return gets(client, [paths[(number + step) % len(paths)] for step in range(steps)])

        # from 1.38 upstream fails on PostgreSQL
        times = one_by_one(servers, 5, lambda server: in_parallel([server.client(37) for _ in range(16)], work))
        report.ratio(f"{name}, 16 clients, {workers} workers", *times, 8, 10)
        a_second = [16 * steps / statistics.median(taken) for taken in times]
        report.note(f"requests a second: upstream {a_second[0]:.0f}, ours {a_second[1]:.0f}")


def allocation(provider: Provider, generation: int | None = None) -> dict[str, Any]:
    name = "VCPU" if "VCPU" in provider.inventories else next(iter(provider.inventories))
    return {
        "allocations": {provider.uuid: {"resources": {name: 1}}},
        "project_id": "project",
        "user_id": "user",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }


def writes(report: Report, servers: Pair, providers: Sequence[Provider]) -> None:
    """Allocations, by one client and by sixteen."""
    targets = {server.port: itertools.cycle(providers) for server in servers}

    def put(port: int) -> Callable[[Client], None]:
        def work(client: Client) -> None:
            status, data = client("PUT", f"/allocations/{uuid.uuid4()}", allocation(next(targets[port])))
            assert status == 204, data

        return work

    def post(port: int) -> Callable[[Client], None]:
        def work(client: Client) -> None:
            body = {str(uuid.uuid4()): allocation(next(targets[port])) for _ in range(10)}
            status, data = client("POST", "/allocations", body)
            assert status == 204, data

        return work

    for name, make in (("PUT allocations, 1 client", put), ("POST allocations of 10 consumers", post)):

        def seconds(server: Server, make: Callable[[int], Callable[[Client], None]] = make) -> float:
            client = server.client()
            client.get("/")
            return seconds_of(lambda: make(server.port)(client))

        report.ratio(name, *one_by_one(servers, 30, seconds), 5, 8)
    _storm(report, servers, providers, "all providers")
    _storm(report, servers, providers[:2], "2 hot providers")


def _storm(report: Report, servers: Pair, providers: Sequence[Provider], where: str) -> None:
    refused = {server.name: itertools.count() for server in servers}

    def seconds(server: Server) -> float:
        def work(client: Client, number: int) -> Script:
            targets = [providers[(number + 16 * step) % len(providers)] for step in range(8)]
            requests = [client.encode("PUT", f"/allocations/{uuid.uuid4()}", allocation(each)) for each in targets]
            for request in requests:
                while (reply := (yield request))[0] != 204:
                    assert reply[0] == 409, reply
                    next(refused[server.name])

        return in_parallel([server.client() for _ in range(16)], work)

    times = one_by_one(servers, 3, seconds)
    for name, counter in refused.items():
        count = next(counter)
        if count:
            report.note(f"{name} refused {count} of {3 * 128} with 409, the client tried again")
            if name == "ours":
                report.below.append(f"refused what fits, {where}")
    report.ratio(f"PUT allocations, 16 clients, 128 requests, {where}", *times, 5, 10)


def loading(report: Report, servers: Pair, count: int = 10) -> None:
    """Nested computes through the API: a node, two NUMA cells with a network card each."""

    def load(client: Client) -> None:
        for _ in range(count):
            root = str(uuid.uuid4())
            _create(client, root, None, {"DISK_GB": 20000}, [])
            for _ in range(2):
                cell, card = str(uuid.uuid4()), str(uuid.uuid4())
                _create(client, cell, root, {"VCPU": 128, "MEMORY_MB": 262144}, ["HW_NUMA_ROOT"])
                _create(client, card, cell, {"SRIOV_NET_VF": 8}, [])

    times = one_by_one(servers, 4, lambda server: seconds_of(lambda: load(server.client())))
    report.ratio(f"loading {count} nested computes through the API", *times, 4, 8)


def _create(client: Client, key: str, parent: str | None, totals: dict[str, int], traits: list[str]) -> None:
    body: dict[str, Any] = {"uuid": key, "name": key, "parent_provider_uuid": parent}
    status, data = client("POST", "/resource_providers", body)
    assert status == 200, data
    inventories = {name: {"total": total} for name, total in totals.items()}
    body = {"resource_provider_generation": 0, "inventories": inventories}
    status, data = client("PUT", f"/resource_providers/{key}/inventories", body)
    assert status == 200, data
    if traits:
        generation = json.loads(data)["resource_provider_generation"]
        body = {"resource_provider_generation": generation, "traits": traits}
        status, data = client("PUT", f"/resource_providers/{key}/traits", body)
        assert status == 200, data


def wide_trees(report: Report, ours: Server) -> None:
    """Trees of devices, where the number of combinations explodes."""
    client = ours.client()
    for groups, limit, bound in ((6, 50, 30), (8, 50, 30), (8, 1000, 1000)):
        query = "&".join(f"resources{number}=VGPU:1" for number in range(1, groups + 1))
        path = f"/allocation_candidates?{query}&group_policy=none&limit={limit}"
        best = min(seconds_of(lambda path=path: client.get(path)) for _ in range(7))
        report.most(f"wide trees, {groups} groups, limit={limit}", best * 1000, bound, "ms")
