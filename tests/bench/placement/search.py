"""Measures the search in this process, from query string to bytes: `python -m tests.bench.placement.search`."""

import statistics
import time
from collections.abc import Callable

from limes.placement.search.candidates import search
from limes.placement.search.model import Cloud
from limes.placement.search.render import render
from limes.placement.search.request import parse
from limes.placement.search.values import parse_pairs
from tests.bench.placement.clouds import AGGREGATES, cloud_of, flat, nested, wide

PLAIN = "resources=VCPU:1,MEMORY_MB:1024,DISK_GB:10"
THREE = "resources=DISK_GB:10&resources1=VCPU:1,MEMORY_MB:1024&resources2=VCPU:2,MEMORY_MB:512&group_policy=none"
SUBTREE = "resources=DISK_GB:10&resources_A=VCPU:1&resources_B=MEMORY_MB:1024&same_subtree=_A,_B&group_policy=none"
PORTS = (
    "resources=DISK_GB:10&resources_A=VCPU:1,MEMORY_MB:64&resources_B=SRIOV_NET_VF:1&same_subtree=_A,_B"
    "&group_policy=none"
)


def answer(cloud: Cloud, query: str, minor: int = 39) -> bytes:
    request = parse(parse_pairs(query), minor, cloud)
    return b"".join(render(search(request, cloud), cloud, minor))


def median_ms(work: Callable[[], bytes], times: int) -> tuple[float, int]:
    size = len(work())
    took = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000, size


def gpus(groups: int) -> str:
    return "&".join(f"resources{n}=VGPU:1" for n in range(1, groups + 1)) + "&group_policy=none"


def main() -> None:
    for name, cloud in (
        ("100 flat", cloud_of(flat(100))),
        ("1000 flat", cloud_of(flat(1000))),
        ("1000 nested", cloud_of(nested(1000))),
        ("10000 flat", cloud_of(flat(10_000))),
    ):
        one = next(iter(cloud.trees.values())).root.uuid
        for query in (
            PLAIN,
            PLAIN + "&limit=50",
            PLAIN + "&required=HW_CPU_X86_AVX2",
            PLAIN + f"&member_of={AGGREGATES[3]}",
            PLAIN + f"&in_tree={one}",
            "resources=VCPU:100000",
            SUBTREE,
            THREE,
            PORTS,
        ):
            took, size = median_ms(lambda cloud=cloud, query=query: answer(cloud, query), 7)
            print(f"{name:12} {took:9.2f} ms {size:9d} bytes  {query}", flush=True)
    cloud = cloud_of(wide(50))
    for groups, limit in ((1, 50), (4, 50), (6, 50), (8, 50), (8, 1000), (9, 50)):
        query = f"{gpus(groups)}&limit={limit}"
        took, size = median_ms(lambda query=query: answer(cloud, query), 5)
        print(f"{'50 wide':12} {took:9.2f} ms {size:9d} bytes  {groups} groups, limit={limit}", flush=True)
    took, size = median_ms(lambda: answer(cloud, gpus(8)), 1)
    print(f"{'50 wide':12} {took:9.2f} ms {size:9d} bytes  8 groups, no limit", flush=True)


if __name__ == "__main__":
    main()
