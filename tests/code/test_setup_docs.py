"""What docs/testing.md says about what a machine needs."""

from tests.setup.needs import ALL, CHECKOUT, UWSGI


def test_everything_is_in_the_table() -> None:
    page = (CHECKOUT / "docs" / "testing.md").read_text()
    section = page.partition("## What a machine needs")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| ")]
    for need in (*ALL, UWSGI):
        short = need.name.removeprefix("the environment of ")
        (row,) = [row for row in rows if short in row[0].split(", ")]
        for package in need.debian[:1]:
            assert f"`{package}`" in row[2]
        if need.variable:
            assert f"${need.variable}" in row[3]
        assert ("by itself" in row[3]) == bool(need.pip or not need.debian)
