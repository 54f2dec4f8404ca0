"""Memory of processes over time, and what PostgreSQL says about its tables."""

import contextlib
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.cloud import SoakCloud

_TABLES = """
SELECT s.relname, pg_table_size(s.relid), pg_indexes_size(s.relid), s.n_live_tup, s.n_dead_tup,
       s.n_tup_upd, s.n_tup_hot_upd, s.autovacuum_count
FROM pg_stat_user_tables s ORDER BY pg_total_relation_size(s.relid) DESC"""


@dataclass
class Memory:
    """Resident memory of the processes that live through it all, in MiB."""

    cloud: SoakCloud
    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """By process: seconds since the start, and MiB."""

    def sample(self, at: float) -> None:
        """Reads it now."""
        for name, pid in self.cloud.survivors.items():
            with contextlib.suppress(FileNotFoundError):
                status = Path(f"/proc/{pid}/status").read_text()
                resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
                self.samples.setdefault(name, []).append((at, resident))

    def print(self) -> None:
        """First and last figure, and the slope of the second half."""
        print(f"\n{'memory, MiB':28}{'first':>10}{'last':>10}{'an hour more, as of the second half':>38}")
        for name, samples in self.samples.items():
            half = samples[len(samples) // 2 :]
            slope = statistics.linear_regression(*zip(*half, strict=True)).slope * 3600 if len(half) > 2 else 0.0
            print(f"{name:28}{samples[0][1]:10.1f}{samples[-1][1]:10.1f}{slope:+38.1f}")


def print_tables(cloud: SoakCloud, before: dict[str, int]) -> None:
    """The ten largest tables: sizes at the start and the end, dead rows, and how many updates wrote to no index."""
    print(
        f"\n{'tables':28}{'KiB before':>11}{'KiB':>9}{'indexes':>9}{'rows':>9}{'dead':>8}{'updates':>10}{'HOT %':>7}{'vacuums':>9}"
    )
    for name, size, indexes, live, dead, updates, hot, vacuums in cloud.rows(_TABLES)[:12]:
        share = f"{100 * hot / updates:.0f}" if updates else "-"
        print(
            f"{name:28}{before.get(name, 0) // 1024:11}{size // 1024:9}{indexes // 1024:9}{live:9}{dead:8}"
            f"{updates:10}{share:>7}{vacuums:9}"
        )


def table_sizes(cloud: SoakCloud) -> dict[str, int]:
    """Bytes of each table without its indexes."""
    return {row[0]: row[1] for row in cloud.rows(_TABLES)}
