"""Request bodies of PUT and simulate-put on domains and projects: in all forms, and broken ones."""

import pytest

from tests.api.quotas import PROJECT, body, put
from tests.api.world import World
from tests.support.rows import all_rows, changes


@pytest.mark.parametrize("raw", ["null", "{}", '{"project": null}', '{"project": {"services": null}}', '{"other": 1}'])
def test_an_empty_change_is_accepted(world: World, raw: str) -> None:
    before = all_rows(world.engine)
    assert world.request("PUT", PROJECT, body=raw).status_code == 202
    assert changes(before, all_rows(world.engine)) == {}


def test_the_last_of_repeated_entries_wins(world: World) -> None:
    document = {
        "project": {
            "services": [
                {"type": "compute", "resources": [{"name": "ram", "quota": 4000}]},
                {"type": "compute", "resources": [{"name": "cores", "quota": 30}, {"name": "cores", "quota": 31}]},
            ]
        }
    }
    result, changed = put(world, PROJECT, document)
    assert result.status_code == 202
    assert [row.quota for row in changed["project_resources"][1]] == [31]


@pytest.mark.parametrize("unit", [None, "UNSPECIFIED", "MiB"])
def test_units_that_mean_the_resources_own(world: World, unit: str | None) -> None:
    result, changed = put(world, PROJECT, body("project", compute={"ram": (2000, unit)}))
    assert result.status_code == 202
    assert [row.quota for row in changed["project_resources"][1]] == [2000]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "request body is not valid JSON: "),
        (b"{", "request body is not valid JSON: "),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": -1}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": 1.5}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": "5"}]}]}}', "quota"),
        (b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": true}]}]}}', "quota"),
        (
            b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores"}]}]}}',
            "quota: Field required",
        ),
        (
            b'{"project": {"services": [{"type": "compute", "resources": [{"name": "cores", "quota": '
            + b"9" * 40
            + b"}]}]}}",
            "quota",
        ),
        (b'{"project": {"services": {"compute": {}}}}', "project.services"),
        (b"[]", "request body is not valid JSON: "),
        (b'"text"', "request body is not valid JSON: "),
    ],
)
@pytest.mark.parametrize("method_and_path", [("PUT", PROJECT), ("POST", f"{PROJECT}/simulate-put")])
def test_bad_bodies(world: World, method_and_path: tuple[str, str], raw: bytes, message: str) -> None:
    before = all_rows(world.engine)
    result = world.request(*method_and_path, body=raw, headers={"Content-Type": "application/json"})
    assert result.status_code == 400
    assert result.text.startswith("request body is not valid JSON: ")
    assert message in result.text
    assert changes(before, all_rows(world.engine)) == {}
