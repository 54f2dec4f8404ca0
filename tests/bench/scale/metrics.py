"""`python -m tests.bench.scale.metrics URL`: reads all data metrics twice, after nothing has changed. Prints the seconds of
each reading, and peak memory in MiB."""

import resource
import sys
import time

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.db.engine import Engine
from limes.reports.data_metrics import DataMetrics
from tests.bench.limes import data


def main() -> None:
    services = [
        ServiceDef(each, each, {name: ResourceDef(name) for name in data.resource_names(each)})
        for each in data.SERVICES
    ]
    metrics = DataMetrics(Engine(sys.argv[1], statement_timeout=3600), Catalog(data.AZS, services))
    for _ in range(2):
        start = time.perf_counter()
        metrics.read()
        print(time.perf_counter() - start)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
