"""No file and no function of the product is too long to be read at once, and no packages import each other in a circle."""

from tests.house import LONGEST_FILE, LONGEST_FUNCTION, MOST_IMPORTS, ROOT, cycles, file_sizes, function_sizes


def test_no_file_is_too_long() -> None:
    assert [str(size) for size in file_sizes() if size.lines > LONGEST_FILE] == []


def test_no_function_is_too_long() -> None:
    assert [str(size) for size in function_sizes() if size.lines > LONGEST_FUNCTION] == []


def test_no_packages_import_each_other_in_a_circle() -> None:
    assert list(cycles()) == []


def test_contributors_are_told_the_same_limits() -> None:
    told = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert f"functions of at most {LONGEST_FUNCTION} lines, files of at most {LONGEST_FILE}." in told
    assert f"Imports are at most {MOST_IMPORTS:g} % of all lines" in told
