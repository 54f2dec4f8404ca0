"""`limes config check`, and every other start: all problems of all parts at once, and no traceback."""

import json
from pathlib import Path
from typing import Any

import pytest

from limes.app.cli import main

ROOT = Path(__file__).parents[3]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, Any]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMES_CONFIG", "")
    monkeypatch.setenv("LIMES_IDENTITY_PASSWORD", "secret")
    monkeypatch.setenv("LIMES_DB_PASSWORD", "secret")


def test_problems_that_only_the_whole_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "constraints.yaml").write_text("domains: {acme: {storage: {capacity: should be 5}}}")
    path = tmp_path / "limes.yaml"
    path.write_text(
        """
availability_zones: [az-one]
constraints_path: constraints.yaml
discovery: {method: static, params: {domains: [{id: d, name: d, projects: [{id: p, name: p, parent_id: d}]}]}}
services: [{service_type: storage, type: static, params: {area: a, resources: {capacity: {unit: GiB, quota: 0}}}}]
resource_behavior:
  - {resource: storage/capacity, commitment_durations: [1 fortnight]}
  - {resource: storage/capacity, scales_with: compute/cores, scaling_factor: 2}
lowpriv_raise: {limits: {projects: {storage: {capacity: 5, discs: 1}}}}
quota_requests: {auto_approval: [{name: large, resource: storage/.*, up_to: 5}]}
quota_sets:
  small: {quotas: {storage: {capacity: 5 MHz, discs: 1}, compute: {cores: 1}}}
  large: {quotas: {storage: {capacity: -5 GiB}}}
  huge: {quotas: {storage: {capacity: 9999999999999999 TiB}}}
api: {listen: "0.0.0.0:8080", policy_file: nowhere.yaml}
identity: {method: sample}
"""
    )
    code, _, errors = run(capsys, "config", "check", "--config", str(path))
    assert code == 1
    for problem in (
        "api.listen: identity.method is 'sample'",
        "nowhere.yaml: no such file",
        "resource_behavior[0].commitment_durations: '1 fortnight' is not a duration",
        "resource_behavior[1].scales_with: there is no service 'compute'",
        "lowpriv_raise.limits.projects.storage.capacity: cannot convert value from <count> to GiB",
        "lowpriv_raise.limits.projects.storage.discs: there is no resource storage/discs; did you mean storage/capacity?",
        "quota_requests.auto_approval[0].up_to: for storage/capacity: cannot convert value from <count> to GiB",
        "constraints: domains.acme.storage.capacity: ",
        "quota_sets.small.quotas.storage.capacity: ",
        "quota_sets.small.quotas.storage.discs: there is no resource storage/discs; did you mean storage/capacity?",
        "quota_sets.small.quotas.compute.cores: there is no service 'compute'",
        "quota_sets.large.quotas.storage.capacity: ",
        "quota_sets.huge.quotas.storage.capacity: ",
    ):
        assert problem in errors, errors


LIQUID = """
availability_zones: [az-one]
discovery: {method: static, params: {domains: [{id: d, name: d, projects: [{id: p, name: p, parent_id: d}]}]}}
identity: {method: sample}
services:
  - {service_type: one, type: liquid, params: {area: a, endpoint: "http://127.0.0.1:9", auth: {type: none}}}
  - {service_type: two, type: liquid, params: {area: b, info_file: two.json}}
"""


def test_services_that_only_their_backends_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`liquid` has to ask for what there is, if it has no file of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.json").write_text('{"version": "new"}')
    (tmp_path / "limes.yaml").write_text(LIQUID)
    code, out, errors = run(capsys, "config", "check", "--config", "limes.yaml")
    assert (code, out) == (1, "")
    one, two = errors.splitlines()
    assert one == "limes: service one: Unable to establish connection to http://127.0.0.1:9/v1/info"
    assert two.startswith("limes: service two: info_file: two.json: version: Input should be a valid integer")


@pytest.mark.parametrize(("name", "services"), [("limes.yaml", 7), ("quickstart.yaml", 2)])
def test_the_examples_are_fine(capsys: pytest.CaptureFixture[str], name: str, services: int) -> None:
    code, out, errors = run(capsys, "config", "check", "--config", str(ROOT / "config" / name))
    assert (code, errors) == (0, "")
    assert out.startswith(f"The configuration is fine: {services} services")


def test_the_example_policies_change_nothing() -> None:
    from limes.app.routes import RULES
    from limes.auth.policy import Policy
    from limes.placement.routes import open_policy

    Policy(RULES, ROOT / "config" / "policy.yaml")
    open_policy(ROOT / "config" / "placement-policy.yaml")


ZONELESS = """
identity: {method: sample, sample: {}}
availability_zones: [az-one]
discovery: {method: static, params: {domains: [{id: d, name: d, projects: [{id: p, name: p, parent_id: d}]}]}}
services:
  - service_type: storage
    type: static
    params: {area: storage, resources: {capacity: {usage: {any: 3}}, shares: {usage: {az-one: 3}}}}
resource_behavior:
  - {resource: storage/.*, commitment_durations: [1 year], commitment_is_az_aware: AWARE}
"""


def test_commitments_for_one_zone_without_usage_by_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "limes.yaml"
    path.write_text(ZONELESS.replace("AWARE", "true"))
    code, out, _ = run(capsys, "config", "check", "--config", str(path))
    fine, *warnings = out.splitlines()
    assert (code, fine) == (0, "The configuration is fine: 1 service with 2 resources.")
    assert [text.partition(" are for one")[0] for text in warnings] == ["warning: commitments to storage/capacity"]
    code, out, _ = run(capsys, "config", "check", "--json", "--config", str(path))
    assert (code, len(json.loads(out)["warnings"])) == (0, 1)
    path.write_text(ZONELESS.replace("AWARE", "false"))
    code, out, _ = run(capsys, "config", "check", "--config", str(path))
    assert (code, out) == (0, fine + "\n")


@pytest.mark.parametrize("api", ["limes", "placement"])
def test_every_policy_rule_is_printed(capsys: pytest.CaptureFixture[str], api: str) -> None:
    code, out, _ = run(capsys, "config", "policy", api)
    assert code == 0
    wanted = {"limes": '#"project:raise": "rule:domain_editor"', "placement": '#"placement:reshaper:reshape": '}[api]
    assert wanted in out


def test_plugins_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "plugin", "list")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines() if line.strip()} >= {"placement", "static", "manual", "list"}


def test_trying_out_a_backend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = ("--config", str(ROOT / "config" / "quickstart.yaml"))
    shop = "1a000000000000000000000000000001"
    code, out, _ = run(capsys, "plugin", "get-usage", "object-store", shop, "--json", *config)
    assert (code, '"usage": 40' in out) == (0, True)
    code, out, _ = run(capsys, "plugin", "scan-capacity", "object-store", "--json", *config)
    assert (code, '"capacity": 10000' in out) == (0, True)
    code, _, errors = run(capsys, "plugin", "set-quota", "object-store", shop, "capacity=many", *config)
    assert (code, errors) == (1, "limes: 'capacity=many': expected RESOURCE=AMOUNT with a whole number\n")
    code, _, errors = run(capsys, "plugin", "get-usage", "object-store", "nowhere", *config)
    assert (code, errors) == (1, "limes: discovery finds no project nowhere\n")
    code, _, errors = run(capsys, "plugin", "scan-capacity", "nowhere", *config)
    assert (code, errors) == (1, "limes: no capacitor 'nowhere'; there are: placement, object-store\n")
