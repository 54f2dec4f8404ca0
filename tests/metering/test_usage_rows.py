"""Usage reports of closed months are written from rows: the same as from entries."""

import csv
import io
import random

import orjson

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.kernel.calendar import DAY
from limes.kernel.units import Unit
from limes.metering.answers import UsageWriter
from limes.metering.entries import ALL_AZS, ClosedMonths, add_up, add_up_zones
from limes.metering.rules import Account, MonthUnits, add, add_zones, constant
from limes.metering.source_queries import Meter, Names
from tests.support.usage import MonthRow, entries_of

MONTHS = {0: 31 * DAY, 31 * DAY: 59 * DAY, 59 * DAY: 90 * DAY}
PROJECTS = [f"p-{number}" for number in range(5)]
HOSTILE = ("=1+1", "+1", "-1", "@sum", "\ttab", "\rreturn", 'quote"', "comma,", "line\nbreak", "ünï", " =1")
CATALOG = Catalog(
    ["az-one", "az-two"],
    [ServiceDef("compute", "compute", {"ram": ResourceDef("ram", unit=Unit("MiB")), "cores": ResourceDef("cores")})],
)


def make_months(seed: int) -> ClosedMonths:
    """Months at random: with large and unknown amounts, corrections, and names that mean something elsewhere."""
    dice = random.Random(seed)
    rows = []
    for project in PROJECTS:
        for resource in ("cores", "ram", '=gone"'):
            for az in ("az-one", "az-two"):
                for begin in MONTHS:
                    if dice.random() < 0.8:
                        used = str(dice.choice([0, 1, 10**30]) * dice.randint(0, 9))
                        totals = (used, str(dice.randint(0, 9)), used)
                        known = (None, None) if dice.random() < 0.2 else (dice.randint(0, 3), dice.randint(4, 9))
                        more = (dice.choice([0, 3600]), *known, dice.randint(0, 9), dice.choice([1, 1, 2]))
                        rows.append(MonthRow(project, "compute", resource, az, begin, *totals, *more))
    corrections = {(Meter._make(row[:4]), row.begin): [(5, "it was late")] for row in rows if row.version > 1}
    names = {
        project: [
            Names(0, dice.choice(HOSTILE), "d", dice.choice(HOSTILE)),
            Names(40 * DAY, dice.choice(HOSTILE), "d", "later"),
        ]
        for project in PROJECTS
    }
    return ClosedMonths(sorted(rows), MONTHS, 1, names, corrections, MonthUnits())


def test_rows_and_entries_look_the_same() -> None:
    for seed in range(20):
        months = make_months(seed)
        one, other = UsageWriter(CATALOG), UsageWriter(CATALOG)
        for write, write_again in ((one.json, other.json), (one.csv, other.csv)):
            assert write(months) == write_again(entries_of(months))
            assert write(months) == write_again(months)


def test_json_says_what_the_entries_say() -> None:
    months = make_months(1)
    for line, entry in zip(UsageWriter(CATALOG).json(months).split(b",\n"), entries_of(months), strict=True):
        if max(entry.account[:3]) < 2**63:
            document = orjson.loads(line)
            assert document["project"]["name"] == entry.names.project_name
            assert document["used"] == entry.account.used
            assert document.get("smallest") == entry.account.smallest
            assert document.get("unit") == ("MiB" if entry.meter.resource == "ram" else None)


def test_csv_is_read_by_others_and_runs_no_formula() -> None:
    for seed in range(20):
        months = make_months(seed)
        text = (UsageWriter.csv_header() + UsageWriter(CATALOG).csv(months)).decode()
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        assert len(found) == len(months.rows)
        for row, entry in zip(found, entries_of(months), strict=True):
            assert row["project_name"].removeprefix("'") == entry.names.project_name
            assert row["domain_name"].removeprefix("'") == entry.names.domain_name
            assert int(row["used"]) == entry.account.used
            assert row["largest"] == ("" if entry.account.largest is None else str(entry.account.largest))
            assert not any(cell.lstrip(" ")[:1] in "=+-@\t\r" for cell in row.values() if cell)


def test_months_add_up_as_accounts_do() -> None:
    for seed in range(20):
        months = make_months(seed)
        sums = {row.meter: row for row in map(MonthRow._make, add_up(months.rows, [*MONTHS]))}
        of_meter: dict[Meter, dict[int, MonthRow]] = {}
        for row in map(MonthRow._make, months.rows):
            of_meter.setdefault(row.meter, {})[row.begin] = row
        assert set(sums) == set(of_meter)
        for meter, rows in of_meter.items():
            nothing = constant(0, 0, 0)
            accounts = [rows[begin].account if begin in rows else nothing for begin in MONTHS]
            expected: Account = add(add(accounts[0], accounts[1]), accounts[2])
            assert sums[meter].account[:6] == expected[:6]
            assert sums[meter].version == max(row.version for row in rows.values())


def test_zones_add_up_as_accounts_do() -> None:
    for seed in range(20):
        months = make_months(seed)
        by_resource: dict[tuple[str, str, str, int], list[MonthRow]] = {}
        for row in map(MonthRow._make, months.rows):
            by_resource.setdefault((row.project, row.service, row.resource, row.begin), []).append(row)
        found = [*map(MonthRow._make, add_up_zones(months.rows))]
        assert [(*row[:3], row.begin) for row in found] == sorted(by_resource)
        assert {row.az for row in found} == {ALL_AZS}
        for row in found:
            zones = by_resource[row.project, row.service, row.resource, row.begin]
            assert row.account == add_zones([zone.account for zone in zones])
            assert row.version == max(zone.version for zone in zones)
