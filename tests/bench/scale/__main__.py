"""`make bench-scale`: the benches' data sets at their own size, three and ten times that, side by side.

The largest has 50,000 projects in 50 domains, 1.5 million project resources and 200,000 commitments. Sizes may be given
as arguments: `python -m tests.bench.scale 1 3`. The last line is the number of rows below their bar.
"""

import sys
import tempfile
from pathlib import Path

from tests.bench.awake import processors_awake
from tests.bench.scale import limes
from tests.bench.scale.table import Table
from tests.setup.needs import POSTGRESQL
from tests.support.machine import must_stop
from tests.support.postgres import postgres_server


def main() -> int:
    """Prints the table."""
    sizes = sorted(map(int, sys.argv[1:])) or [1, 3, 10]
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    table = Table(sizes)
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder, processors_awake():
        limes.compare(server, sizes, Path(folder), table)
    print(f"below the bar: {table.below}")
    return 1 if table.below else 0


if __name__ == "__main__":
    sys.exit(main())
