"""The file of quota overrides: read at the start, and again whenever it has changed."""

import json
import logging
import os
from pathlib import Path

import pytest

from limes.app.settings.rules import OverridesFile
from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.kernel.errors import ConfigError
from limes.quota.constraints import NO_OVERRIDES

CATALOG = Catalog(["az-one"], [ServiceDef("compute", "compute", {"cores": ResourceDef("cores")})])
CORES = ("compute", "cores")


def document(quota: object) -> str:
    return json.dumps({"germany": {"berlin": {"compute": {"cores": quota}}}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "overrides.json"
    path.write_text(document(5))
    return path


@pytest.fixture
def file(path: Path) -> OverridesFile:
    return OverridesFile(path, CATALOG)


def quota(file: OverridesFile) -> int | None:
    return file.current().for_project(CORES, "germany", "berlin")


def replace(path: Path, text: str) -> None:
    """Puts a new file in the place of the old one, as Kubernetes and most editors do."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def test_without_a_path_there_are_none() -> None:
    file = OverridesFile(None, CATALOG)
    assert file.current() is NO_OVERRIDES
    assert file.is_valid()


def test_json_and_yaml(path: Path, file: OverridesFile) -> None:
    assert quota(file) == 5
    replace(path, "germany:\n  berlin:\n    compute: {cores: 7}\n")
    assert quota(file) == 7


def test_read_again_only_if_it_has_changed(path: Path, file: OverridesFile) -> None:
    first = file.current()
    assert file.current() is first
    replace(path, document(6))
    assert quota(file) == 6
    replace(path, "{}")
    assert quota(file) is None


def test_another_file_of_the_same_size_and_time(path: Path, file: OverridesFile) -> None:
    before = path.stat()
    replace(path, document(9))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert quota(file) == 9


@pytest.mark.parametrize("text", [document(-1), "", "{", '{"germany": {"berlin": {"compute": {"coars": 5}}}}', None])
def test_the_last_good_file_stays_in_force(
    path: Path, file: OverridesFile, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    if text is None:
        path.unlink()
    else:
        replace(path, text)
    with caplog.at_level(logging.ERROR):
        assert quota(file) == 5
        assert not file.is_valid()
        assert quota(file) == 5
    assert [record.message for record in caplog.records if "last good overrides" in record.message] == [
        f"{path} has changed and cannot be used: the last good overrides stay in force"
    ]
    replace(path, document(8))
    assert quota(file) == 8
    assert file.is_valid()


def test_a_start_needs_a_good_file(path: Path) -> None:
    path.write_text(document("5 GiB"))
    with pytest.raises(ConfigError, match=r"germany\.berlin\.compute\.cores: cannot convert"):
        OverridesFile(path, CATALOG)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        OverridesFile(path.with_name("nowhere.yaml"), CATALOG)


def test_a_key_that_is_given_twice(path: Path) -> None:
    path.write_text("germany: {berlin: {compute: {cores: 5}}}\ngermany: {}\n")
    with pytest.raises(ConfigError, match="'germany' is given twice"):
        OverridesFile(path, CATALOG)
