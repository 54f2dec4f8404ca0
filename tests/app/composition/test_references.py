"""Names that nothing has are reported by `config check`, all at once and with a hint at the nearest one."""

import json
import os
from pathlib import Path

import pytest

from limes.app.cli import main

BASE = """
availability_zones: [az-one]
discovery: {method: static, params: {domains: [{id: d, name: d, projects: [{id: p, name: p, parent_id: d}]}]}}
identity: {method: sample}
services:
  - {service_type: storage, type: static, params: {area: a, resources: {capacity: {unit: GiB, quota: 0}}}}
"""
COMPUTE = "  - {service_type: compute, type: placement, params: {area: a, resources: {cores: VCPU, ram: MEMORY_MB}}}\n"
AUTOGROW = "model: autogrow, autogrow: {growth_multiplier: 1.2, usage_data_retention_period: 48h}"
CAPACITY = "capacitors: [{id: hand, type: manual, params: {values: {storage: {capacity: 5}}}}]\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("LIMES_")]:
        monkeypatch.delenv(name)  # `make` sets some, and the doctor warns of those that nothing reads
    monkeypatch.setenv("LIMES_CONFIG", "")


def problems(capsys: pytest.CaptureFixture[str], text: str) -> list[str]:
    Path("limes.yaml").write_text(BASE + text)
    assert main(["config", "check"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return [line.removeprefix("limes: ") for line in captured.err.splitlines()]


def warnings(capsys: pytest.CaptureFixture[str], text: str) -> list[str]:
    Path("limes.yaml").write_text(BASE + text)
    assert main(["config", "check", "--json"]) == 0
    return list(json.loads(capsys.readouterr().out).get("warnings", []))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "resource_behavior: [{resource: .*, scales_with: storage/capaciti, scaling_factor: 2}]",
            "resource_behavior[0].scales_with: there is no resource storage/capaciti; did you mean storage/capacity?",
        ),
        (
            "resource_behavior: [{resource: .*, scales_with: sturage/capacity, scaling_factor: 2}]",
            "resource_behavior[0].scales_with: there is no service 'sturage'; did you mean storage?",
        ),
        (
            "lowpriv_raise: {limits: {projects: {storage: {capazity: 1}}}}",
            "lowpriv_raise.limits.projects.storage.capazity: there is no resource storage/capazity;"
            " did you mean storage/capacity?",
        ),
        (
            "commitments: {conversions: [{storage/kapacity: 1}]}",
            "commitments.conversions[0]: there is no resource storage/kapacity; did you mean storage/capacity?",
        ),
        (
            "database: {url: mysql://limes:s3cr3t@db.example.org/limes}",
            "database.url: unknown scheme 'mysql', expected sqlite:///path or postgresql://host/name",
        ),
        (
            "placement: {database_url: mysql://limes:s3cr3t@db.example.org/limes}",
            "placement.database_url: unknown scheme 'mysql', expected sqlite:///path or postgresql://host/name",
        ),
        (
            COMPUTE.replace("VCPU", "VCPUS"),
            "services[1].params.resources.cores.class: VCPUS is neither a standard resource class nor one that begins"
            " with CUSTOM_; did you mean VCPU?",
        ),
    ],
)
def test_what_prevents_a_start(capsys: pytest.CaptureFixture[str], text: str, problem: str) -> None:
    assert problems(capsys, text) == [problem]


def rules(*entries: str) -> str:
    return f"quota_requests: {{auto_approval: [{', '.join(f'{{{entry}}}' for entry in entries)}]}}"


RULE = "quota_requests.auto_approval"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "resource_behavior: [{resource: storage/capcity, commitment_durations: [1 year]}]",
            "resource_behavior[0].resource: 'storage/capcity' matches no resource, so this entry has no effect;"
            " did you mean storage/capacity?",
        ),
        (
            "subresource_lifetimes: {resources: [{resource: storage/volumes}]}",
            "subresource_lifetimes.resources[0].resource: 'storage/volumes' matches no resource, so this entry has no effect",
        ),
        (
            f"{COMPUTE}subresource_lifetimes: {{resources: [{{resource: compute/cores}}]}}",
            "subresource_lifetimes: compute/cores is followed, but its plugin names no attributes to bill (are subresources"
            " switched on in the params of service 'compute'?)",
        ),
        (
            "quota_distribution_configs: [{resource: network/.*, model: hierarchical}]",
            "quota_distribution_configs[0].resource: 'network/.*' matches no resource, so this entry has no effect",
        ),
        (
            "capacitors: [{id: hand, type: manual, params: {values: {storage: {capcity: 5}}}}]",
            "capacitors[0] (hand): there is no resource storage/capcity, so its capacity is not used;"
            " did you mean storage/capacity?",
        ),
        (
            "capacitors: [{id: nodes, type: placement, params: {service: sturage, resources: {cores: VCPU}}}]",
            "capacitors[0] (nodes): there is no service 'sturage', so its capacity is not used; did you mean storage?",
        ),
        (
            "capacitors:\n"
            "  - {id: one, type: manual, params: {values: {storage: {capacity: 5}}}}\n"
            "  - {id: two, type: manual, params: {values: {storage: {capacity: 6}}}}\n",
            "capacitors: one and two report the capacity of storage/capacity; the last report counts",
        ),
        (
            "quota_distribution_configs: [{resource: .*}, {resource: storage/.*, model: hierarchical}]",
            "quota_distribution_configs[1].resource: 'storage/.*' matches only what an entry before it matches, so this"
            " entry has no effect",
        ),
        (
            f"quota_distribution_configs: [{{resource: .*, {AUTOGROW}}}]",
            "quota_distribution_configs[0].resource: '.*': no capacitor reports the capacity of storage/capacity, so"
            " quota does not grow beyond usage and commitments; configure a capacitor, or allow_quota_overcommit",
        ),
        (
            f"  - {{service_type: dns, type: static, params: {{area: a, resources: {{zones: {{}}}}}}}}\n"
            f"quota_distribution_configs: [{{resource: dns/.*, {AUTOGROW}}}]",
            "quota_distribution_configs[0].resource: 'dns/.*' matches only resources without quota (dns/zones), so this"
            " entry has no effect",
        ),
        (
            rules("name: few, resource: sturage/capacity, up_to_percent: 150"),
            f"{RULE}[0].resource: 'sturage/capacity' matches no resource, so this entry has no effect;"
            " did you mean storage/capacity?",
        ),
        (
            "  - {service_type: dns, type: static, params: {area: a, resources: {zones: {}}}}\n"
            + rules("name: few, resource: dns/.*, up_to_percent: 150"),
            f"{RULE}[0] (few): 'dns/.*' matches only resources without quota, so this rule has no effect",
        ),
        (
            rules("name: none, resource: .*, up_to: 0 GiB"),
            f"{RULE}[0] (none): up_to is 0, so this rule approves nothing",
        ),
        (
            rules("name: some, resource: .*, up_to: 50 GiB", "name: less, resource: .*, up_to: 50 GiB, every: 7d"),
            f"{RULE}[1] (less): whatever it approves, some before it approves already, so this rule has no effect",
        ),
        (
            rules(
                "name: some, resource: storage/.*, scope: d/.*, up_to_percent: 150, used_above: 80",
                "name: less, resource: .*, scope: d/.*, up_to_percent: 120, used_above: 90, up_to: 9 GiB",
            ),
            f"{RULE}[1] (less): whatever it approves, some before it approves already, so this rule has no effect",
        ),
        (
            "  - {service_type: dns, type: static, params: {area: a, resources: {zones: {quota: 0}}}}\n"
            + rules(
                "name: one, resource: dns/.*, up_to_percent: 150",
                "name: two, resource: storage/.*, up_to_percent: 150",
                "name: all, resource: .*, up_to_percent: 140",
            ),
            f"{RULE}[2] (all): whatever it approves, one and two before it approves already, so this rule has no"
            " effect",
        ),
    ],
)
def test_what_has_no_effect(capsys: pytest.CaptureFixture[str], text: str, warning: str) -> None:
    assert warnings(capsys, text) == [warning]
    assert main(["config", "check"]) == 0
    assert f"warning: {warning}\n" in capsys.readouterr().out
    main(["doctor", "--only", "configuration", "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert warning in [one["message"] for one in found if one["check"] == "configuration.references"]


def test_quota_that_can_grow(capsys: pytest.CaptureFixture[str]) -> None:
    assert warnings(capsys, f"{CAPACITY}quota_distribution_configs: [{{resource: .*, {AUTOGROW}}}]") == []
    beyond = AUTOGROW.replace("{", "{allow_quota_overcommit: true, ")
    assert warnings(capsys, f"quota_distribution_configs: [{{resource: .*, {beyond}}}]") == []


@pytest.mark.parametrize(
    "later",
    [
        "up_to: 60 GiB, scope: d/.*, used_above: 80",  # more
        "up_to_percent: 200, scope: d/.*, used_above: 80",  # more, by another measure
        "up_to: 50 GiB, scope: d/p, used_above: 80",  # elsewhere, for all that we know
        "up_to: 50 GiB, used_above: 80",  # in all projects
        "up_to: 50 GiB, scope: d/.*, used_above: 70",  # earlier
        "up_to: 50 GiB, scope: d/.*",  # always
    ],
)
def test_rules_that_approve_more_than_those_before(capsys: pytest.CaptureFixture[str], later: str) -> None:
    first = "name: first, resource: .*, up_to: 50 GiB, scope: d/.*, used_above: 80"
    assert warnings(capsys, rules(first, f"name: later, resource: .*, {later}")) == []


def test_a_rule_that_rests_lets_others_approve(capsys: pytest.CaptureFixture[str]) -> None:
    first = "name: first, resource: .*, up_to: 50 GiB, every: 7d"
    assert warnings(capsys, rules(first, "name: later, resource: .*, up_to: 50 GiB")) == []


def test_overrides_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("overrides.yaml").write_text("d: {p: {storage: {capacity: 5, discs: 1}, sturage: {capacity: 1}}}")
    assert problems(capsys, "quota_overrides_path: overrides.yaml") == [
        "quota overrides: d.p.storage.capacity: cannot convert value from <count> to GiB because units are incompatible",
        "quota overrides: d.p.storage.discs: there is no resource storage/discs; did you mean storage/capacity?",
        "quota overrides: d.p.sturage.capacity: there is no service 'sturage'; did you mean storage?",
    ]
    assert problems(capsys, "quota_overrides_path: nowhere.yaml") == [
        "nowhere.yaml: cannot be read: No such file or directory"
    ]


def test_overrides_of_quota_that_people_set(capsys: pytest.CaptureFixture[str]) -> None:
    Path("overrides.json").write_text('{"d": {"p": {"storage": {"capacity": "5 GiB"}}}}')
    text = f"{CAPACITY}quota_overrides_path: overrides.json\n"
    assert warnings(capsys, text) == [
        "quota overrides: d.p.storage.capacity: people set quota of storage/capacity (model hierarchical), so this"
        " override has no effect"
    ]
    assert warnings(capsys, f"{text}quota_distribution_configs: [{{resource: .*, {AUTOGROW}}}]") == []


def test_settings_for_quota_that_people_set(capsys: pytest.CaptureFixture[str]) -> None:
    Path("constraints.yaml").write_text(
        "domains: {d: {storage: {capacity: at least 5 GiB}}}\nprojects: {d/p: {storage: {capacity: at least 5 GiB}}}"
    )
    text = CAPACITY + (
        "constraints_path: constraints.yaml\n"
        "lowpriv_raise: {limits: {projects: {storage: {capacity: 5 GiB}}, domains: {storage: {capacity: 5 GiB}}}}\n"
    )
    assert warnings(capsys, text) == []
    grows = "quota of storage/capacity grows by itself (model autogrow)"
    assert warnings(capsys, f"{text}quota_distribution_configs: [{{resource: .*, {AUTOGROW}}}]") == [
        f"lowpriv_raise.limits.projects.storage.capacity: {grows}, so this limit has no effect",
        f"lowpriv_raise.limits.domains.storage.capacity: {grows}, so this limit has no effect",
        f"constraints: domains.d.storage.capacity: {grows}, so domains have none of their own to constrain",
    ]


def test_all_kinds_of_problems_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Keys, values, params of plugins, references, addresses and policies, although the file is not even valid."""
    text = """
  - {service_type: network, type: static, parms: {}}
  - {service_type: compute, type: placement, params: {area: a, resources: {cores: vcpu}}}
  - {service_type: images, type: static, params: {area: a, resources: {bytes: {unit: GiB, quota: 0}}}}
  - {service_type: tapes, type: static, params: {area: a, resources: {}}}
capacitors:
  - {id: 7, type: manual}
resource_behavior:
  - {resource: "(("}
  - {resource: .*, scales_with: images/byte, scaling_factor: 2}
  - {resource: .*, scales_with: network/ports, scaling_factor: 2}
  - {resource: .*, scales_with: compute/ram, scaling_factor: 2}
api: {workers: none, policy_file: nowhere.yaml}
database: {url: "mysql://limes:s3cr3t@db/limes"}
"""
    found = problems(capsys, text)
    assert sorted(found) == sorted(
        [
            "services[1].parms: unknown key; did you mean params?",
            "services[1].params.area: missing",
            "services[1].params.resources: missing",
            "services[2].params.resources.cores.class: expected the name of a resource class, such as VCPU or"
            " CUSTOM_GOLD, not 'vcpu'",
            "services[4].params.resources: at least one is needed",
            "capacitors[0].id: expected a text, not 7",
            "resource_behavior[0].resource: '((' is not a valid regular expression: missing ), unterminated subpattern"
            " at position 1",
            "resource_behavior[1].scales_with: there is no resource images/byte; did you mean images/bytes?",
            "api.workers: expected a whole number, not 'none'",
            "policy file nowhere.yaml: no such file",
            "database.url: unknown scheme 'mysql', expected sqlite:///path or postgresql://host/name",
        ]
    )
    main(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [one["message"] for one in findings if one["level"] == "problem"] == found


def test_an_address_that_no_database_has_is_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("limes.yaml").write_text(BASE + "database: {url: mysql://limes:s3cr3t@db/limes}")
    assert main(["doctor", "--only", "configuration", "--only", "database", "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(one["level"], one["check"]) for one in findings] == [
        ("problem", "configuration.file"),
        ("skipped", "database"),
    ]


def test_a_capacitor_that_reports_nothing_is_not_fine(capsys: pytest.CaptureFixture[str]) -> None:
    capacitors = "capacitors: [{id: hand, type: manual, params: {values: {storage: {capcity: 5}}}}]"
    Path("limes.yaml").write_text(BASE + capacitors)
    assert main(["doctor", "--only", "backends", "--json"]) == 1
    found = {one["check"]: one for one in json.loads(capsys.readouterr().out)["findings"]}["backends.capacitor.hand"]
    assert (found["level"], found["message"]) == (
        "warning",
        "capacitor hand reports capacity of no configured resource",
    )
    assert "limes plugin scan-capacity hand" in found["mend"]


def test_subresources_that_are_on_are_followed_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    compute = COMPUTE.replace("area: a,", "area: a, with_subresources: true,")
    assert warnings(capsys, f"{compute}subresource_lifetimes: {{resources: [{{resource: compute/.*}}]}}") == []


def test_lifetimes_are_kept_for_a_day_at_least(capsys: pytest.CaptureFixture[str]) -> None:
    [problem] = problems(capsys, "subresource_lifetimes: {retention: 5m}")
    assert "subresource_lifetimes.retention" in problem
