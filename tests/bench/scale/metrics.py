"""`python -m tests.bench.scale.metrics URL`: writes all data metrics once. Prints seconds, and peak memory in MiB."""

import os
import resource
import sys
import time

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.db.engine import Engine
from limes.reports.data_metrics import DataMetrics
from tests.bench.limes import data


def main() -> None:
    """Writes into nothing."""
    services = [
        ServiceDef(each, each, {name: ResourceDef(name) for name in data.resource_names(each)})
        for each in data.SERVICES
    ]
    engine = Engine(sys.argv[1], statement_timeout=3600)
    start = time.perf_counter()
    with open(os.devnull, "wb") as file:
        DataMetrics(engine, Catalog(data.AZS, services)).write(file)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main()
