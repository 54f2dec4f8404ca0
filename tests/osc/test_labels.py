"""Labels of projects: set, listed, and lists of projects that are filtered by them."""

import pytest

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def test_labels_are_replaced_and_listed(cloud: Cloud, login: Login) -> None:
    admin = login("berlin-admin")
    assert admin.json("project label list") == []
    rows = admin.json("project label set --label env=prod --label 'owner=web team=blue' --label empty=")
    assert rows == [
        {"key": "empty", "value": ""},
        {"key": "env", "value": "prod"},
        {"key": "owner", "value": "web team=blue"},
    ]
    assert admin.json("project label list") == login("germany-admin").json("project label list berlin") == rows
    assert admin.json("project label set --clear") == admin.json("project label list") == []
    assert "The project has no labels." in admin.run("project label list").errors


def test_lists_of_projects(cloud: Cloud, login: Login) -> None:
    admin = login("germany-admin")
    admin.must("project label set berlin --label env=prod --label tier=1")
    admin.must("project label set dresden --label env=test")

    def found(options: str) -> list[str]:
        return [row["project_name"] for row in admin.json(f"project list --resource compute/cores {options}")]

    assert found("--label env") == ["berlin", "dresden"]
    assert found("--label env:prod") == found("--label env --label tier") == ["berlin"]
    assert found("--label env:prod --label env:test") == []


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("project label set berlin --domain germany", "one of the arguments --label --clear is required"),
        ("project label set berlin --domain germany --label env", "'env': expected <key>=<value>, such as env=prod"),
        ("project label set berlin --domain germany --label Env=prod", "label 'Env': a key is 1 to 63 of a-z, 0-9, "),
        ("project list --domain germany --label Env", "query parameter label: expected key or key:value, "),
        ("project list --all-domains --label env", "--label does not go with --all-domains"),
    ],
)
def test_what_makes_no_sense(cloud: Cloud, admin: User, command: str, text: str) -> None:
    outcome = admin.run(command)
    assert outcome.status != 0
    assert text in outcome.errors
