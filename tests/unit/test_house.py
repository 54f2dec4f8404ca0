"""No file and no function of the product is too long to be read at once, and no packages import each other in a circle."""

from tests.house import LONGEST_FILE, LONGEST_FUNCTION, cycles, file_sizes, function_sizes


def test_no_file_is_too_long() -> None:
    assert [str(size) for size in file_sizes() if size.lines > LONGEST_FILE] == []


def test_no_function_is_too_long() -> None:
    assert [str(size) for size in function_sizes() if size.lines > LONGEST_FUNCTION] == []


def test_no_packages_import_each_other_in_a_circle() -> None:
    assert list(cycles()) == []
