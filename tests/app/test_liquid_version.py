"""The version of what `limes liquid` says of itself."""

from pathlib import Path

import pytest

from limes.app.liquid.handlers import derived_version, kept_version
from limes.kernel.errors import StartupError

ONE, OTHER = {"resources": {"a": {}}}, {"resources": {"b": {}}}


def test_it_grows_with_each_change(tmp_path: Path) -> None:
    file = tmp_path / "storage.json"
    assert [kept_version(one, file) for one in (ONE, ONE, OTHER, OTHER, ONE)] == [1, 1, 2, 2, 3]
    assert [one.name for one in tmp_path.iterdir()] == ["storage.json"]


def test_without_a_file_it_differs() -> None:
    assert derived_version(ONE) == derived_version(dict(ONE)) != derived_version(OTHER)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected what `limes liquid` has written there"),
        ("{", "expected what `limes liquid` has written there"),
        ('{"version": "x", "info": {}}', "expected what `limes liquid` has written there"),
    ],
)
def test_a_file_of_others_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "storage.json"
    file.write_text(content)
    with pytest.raises(StartupError, match=f"liquid.version_folder: .*storage.json: {message}"):
        kept_version(ONE, file)
    assert file.read_text() == content


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="No such file or directory"):
        kept_version(ONE, tmp_path / "nowhere" / "storage.json")
