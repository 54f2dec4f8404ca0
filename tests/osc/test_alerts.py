"""`limes alert list`: of a project, a domain and the whole cloud."""

from tests.osc.client import User
from tests.osc.conftest import Cloud, Login


def test_what_people_see(cloud: Cloud, login: Login, admin: User) -> None:
    cloud.engine.execute("UPDATE project_services SET push_error = ''", [])
    cloud.engine.execute("UPDATE project_resources SET usage = 900 WHERE quota = 1024", [])
    cloud.commit(duration="1 year")
    cloud.engine.execute(
        "UPDATE project_commitments SET created_at = 1, confirmed_at = 1, expires_at = created_at + 432000", []
    )
    table = admin.must("alert list --all-domains")
    assert "usage 31" in table
    assert "above 30" in table
    assert "usage 900 MiB" in table
    assert "of 1 GiB" in table
    found = admin.json("alert list --all-domains")
    assert [(one["severity"], one["kind"], one["project_name"]) for one in found] == [
        ("critical", "usage_above_quota", "dresden"),
        ("critical", "commitment_expires", "berlin"),
        ("warning", "quota_used", "berlin"),
    ]
    assert f"commitment {found[1]['commitment']} of 10" in table
    assert found[1]["amount"] == 10
    assert (found[2]["quota"], found[2]["usage"], found[2]["unit"]) == (1024, 900, "MiB")
    assert admin.json("alert list --domain germany") == found
    assert admin.json("alert list --all-domains --limit 1") == found[:1]
    assert admin.json("alert list --all-domains --resource ram") == found[2:]
    assert login("berlin-member").json("alert list") == found[1:]
    assert login("france-admin").must("alert list --domain france") == ""
