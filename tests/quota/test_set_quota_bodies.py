"""Request bodies of PUT and simulate-put on domains and projects: in all forms, and broken ones."""

import pytest

from tests.api.world import World
from tests.quota.quotas import PROJECT, body, put
from tests.support.rows import all_rows, changes

CORES = '{"project": {"services": [{"type": "compute", "resources": [{"name": "cores"%s}]}]}}'
QUOTA = "project.services.0.resources.0.quota: "


@pytest.mark.parametrize("raw", ["null", "{}", '{"project": null}', '{"project": {"services": null}}', '{"other": 1}'])
@pytest.mark.parametrize("target", ["", "/max-quota", "/forbid-autogrowth"])
def test_an_empty_change_is_accepted(world: World, target: str, raw: str) -> None:
    before = all_rows(world.engine)
    assert world.request("PUT", f"{PROJECT}{target}", body=raw).status_code == 202
    assert changes(before, all_rows(world.engine)) == {}


def test_the_last_of_repeated_entries_wins_and_unknown_keys_mean_nothing(world: World) -> None:
    cores = [{"name": "cores", "quota": 30}, {"name": "cores", "quota": 31, "colour": "green"}]
    ram = [{"name": "ram", "quota": 4000}]
    services = [{"type": "compute", "resources": ram}, {"type": "compute", "resources": cores}]
    result, changed = put(world, PROJECT, {"project": {"services": services}})
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
        ("", ""),
        ("{", ""),
        (CORES % ', "quota": 21' + " and more", ""),
        ("[]", "document: expected an object\n"),
        ('"text"', "document: expected an object\n"),
        ('{"project": 5}', "project: expected an object\n"),
        ('{"project": {"services": {"compute": {}}}}', "project.services: expected a list\n"),
        ('{"project": {"services": [5]}}', "project.services.0: expected an object\n"),
        (CORES % "", QUOTA + "Field required"),
        (CORES % ', "Quota": 21', QUOTA + "Field required"),
        *((CORES % f', "quota": {quota}', QUOTA) for quota in ("-1", "1.5", '"5"', "true", "9" * 40)),
    ],
)
@pytest.mark.parametrize("method_and_path", [("PUT", PROJECT), ("POST", f"{PROJECT}/simulate-put")])
def test_bad_bodies(world: World, method_and_path: tuple[str, str], raw: str, message: str) -> None:
    before = all_rows(world.engine)
    result = world.request(*method_and_path, body=raw, headers={"Content-Type": "application/json"})
    assert result.status_code == 400
    assert result.text.startswith(f"request body is not valid JSON: {message}")
    assert changes(before, all_rows(world.engine)) == {}
