"""`make bench-scale`: the benches' data sets at their own size, three and ten times that, side by side.

The largest has 50,000 projects in 50 domains, 1.5 million project resources and 200,000 commitments. Sizes may be given
as arguments, and parts of the table: `python -m tests.bench.scale 1 3 placement`. Placement has 10,000 providers and
100,000 allocations at its own size. The last line is the number of rows below their bar.
"""

import sys
import tempfile
from pathlib import Path

from tests.bench.awake import processors_awake
from tests.bench.scale import collector, limes, placement
from tests.bench.scale.table import Table
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server

PARTS = {"limes": limes.compare, "placement": placement.compare, "collector": collector.compare}


def main() -> int:
    """Prints the table."""
    sizes = sorted(int(word) for word in sys.argv[1:] if word.isdigit()) or [1, 3, 10]
    parts = [part for name, part in PARTS.items() if name in sys.argv] or PARTS.values()
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    table = Table(sizes)
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, processors_awake():
        for compare in parts:
            compare(server, sizes, Path(folder), table)
    print(f"below the bar: {table.below}")
    return 1 if table.below else 0


if __name__ == "__main__":
    sys.exit(main())
