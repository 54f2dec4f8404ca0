"""Whom a command is about, where there is no Keystone: names in the lists of Limes, IDs, and the options for all commands."""

from http.server import BaseHTTPRequestHandler
from threading import Thread

import pytest

from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, PARIS
from tests.osc.client import OpenStackClient, User
from tests.osc.conftest import Cloud, Login
from tests.support.http_server import HttpServer


def test_domains_by_name_and_id(admin: User) -> None:
    quotas = "--resource cores -f value -c Quota"
    assert admin.must(f"domain show germany {quotas}") == admin.must(f"domain show {GERMANY} {quotas}") == "100\n"
    assert admin.must(f"domain show {quotas}", OS_LIMES_DOMAIN="france") == "50\n"
    assert admin.must(f"domain show {FRANCE} {quotas}", OS_LIMES_DOMAIN="germany") == "50\n"
    assert admin.refused("domain show spain") == "there is no domain 'spain'; there are: france, germany\n"
    assert admin.refused("domain show") == (
        "which domain? The token is for none: name one with the argument <domain>, or set OS_LIMES_DOMAIN"
        " (openstack limes domain list shows them)\n"
    )


def test_projects_by_name_and_id(admin: User) -> None:
    usage = "--resource cores -f value -c Usage"
    for project in ("dresden", DRESDEN, "--domain germany dresden", f"--domain {GERMANY} {DRESDEN}"):
        assert admin.must(f"project show {project} {usage}") == "31\n"
    assert admin.must(f"project show {usage}", OS_LIMES_PROJECT="dresden") == "31\n"
    assert admin.refused("project show berlni") == "there is no project 'berlni'; did you mean berlin?\n"
    assert admin.refused("project show --domain france dresden") == "there is no project 'dresden'; there are: paris\n"
    assert admin.refused("project show") == (
        "which project? The token is for none: name one with the argument <project>, or set OS_LIMES_PROJECT"
        " (openstack limes project list --all-domains shows them)\n"
    )


def test_one_name_in_two_domains(cloud: Cloud, admin: User) -> None:
    cloud.engine.execute("UPDATE projects SET name = 'berlin' WHERE uuid = %s", [PARIS])
    assert "there are several projects 'berlin': name a domain with --domain" in admin.refused("project show berlin")
    assert admin.json("project show berlin --domain germany --resource cores")[0]["usage"] == 5


def test_what_the_token_is_for(germany: User, berlin: User) -> None:
    assert berlin.json("project show --resource cores")[0]["usage"] == 5
    assert berlin.json(f"project show {BERLIN} --domain {GERMANY} --resource cores")[0]["usage"] == 5
    assert "which project?" in berlin.refused(f"project show --domain {FRANCE}")
    assert "(openstack limes project list shows them)" in germany.refused("commitment list")
    assert germany.json("domain show --resource cores")[0]["quota"] == 100
    assert germany.json("domain show germany --resource cores")[0]["quota"] == 100
    shown = berlin.json("identity show")
    assert (shown["user_id"], shown["project_id"], shown["domain_id"]) == ("u6", BERLIN, GERMANY)
    assert (shown["system"], shown["roles"]) == (None, "admin, member")
    assert "| Domain Name | germany " in germany.must("identity show")


def test_a_domain_admin_finds_projects_by_name(login: Login) -> None:
    admin = login("germany-admin")
    assert admin.json("project show dresden --resource cores")[0]["usage"] == 31
    assert admin.refused("project show paris") == "there is no project 'paris'; there are: berlin, dresden\n"


def test_who_may_look_up_nothing_gives_ids(login: Login) -> None:
    member = login("berlin-member", OS_LIMES_DOMAIN=GERMANY)
    assert member.json(f"project show {BERLIN} --resource cores")[0]["usage"] == 5
    said = member.refused("project show berlin")
    assert (
        "Forbidden: this needs the role admin, member, reader, resource_admin or resource_viewer on the project, or "
        in said
    )
    assert (
        "\nthe roles of this token do not allow it; openstack limes identity show lists them (GET /v1/domains/uuid-for-germany/projects/berlin: "
        in said
    )
    assert "('berlin' was taken for an ID, as this user may not look up projects by name)" in said


def test_ids_with_anything_in_them(login: Login) -> None:
    said = login("berlin-member").refused("project show ../../clusters/current?")
    assert "(GET /v1/domains/uuid-for-germany/projects/..%2F..%2Fclusters%2Fcurrent%3F: HTTP 404)" in said


def test_wrong_roles(member: User) -> None:
    for command in (
        "domain list",
        "domain show",
        "domain set --set compute/cores=1",
        "domain simulate --set compute/cores=1",
        "domain history",
        "domain explain",
        "domain discover",
        "project list",
        "project list --all-domains",
        "project sync",
        "project label set --clear",
        "project discover",
        "commitment create compute/cores 1 --az az-one --duration '1 year'",
        "commitment plan compute/cores 1 --az az-one --duration '1 year'",
        "alert list --all-domains",
        "change list --all-domains",
        "inconsistency list",
        "scrape error list",
    ):
        outcome = member.run(command)
        assert outcome.status == 1, command
        assert outcome.out == ""
        assert outcome.errors.startswith("Forbidden: this needs the role "), command
        assert "\nthe roles of this token do not allow it; openstack limes identity show lists them (" in outcome.errors


def test_tokens_and_addresses_that_are_none(cloud: Cloud, login: Login, openstack: OpenStackClient) -> None:
    said = login("nobody-knows-it").refused("cluster show")
    assert "the token is not accepted (GET /v1/clusters/current: HTTP 401)" in said
    other = login("cloud-admin", OS_LIMES_ENDPOINT="http://127.0.0.1:9")
    assert "Unable to establish connection to http://127.0.0.1:9/v1/clusters/current" in other.refused("cluster show")
    lost = login("cloud-admin", OS_LIMES_ENDPOINT=f"{cloud.url}/v1/domains")
    assert "HTTP 404" in lost.refused("cluster show")
    right = login("cloud-admin", OS_ENDPOINT="http://127.0.0.1:9", OS_LIMES_ENDPOINT=f"{cloud.url}/v1/")
    assert right.json("cluster show --resource ram")[0]["capacity"] == 12288


class Older(BaseHTTPRequestHandler):
    """A Limes that does not say what tokens are for."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""


def test_a_limes_that_does_not_say_what_tokens_are_for(openstack: OpenStackClient) -> None:
    with HttpServer(("127.0.0.1", 0), Older) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        env = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "OS_TOKEN": "x"}
        user = User(openstack, env)
        assert "which project? The token is for none: name one" in user.refused("project show")
        assert "which domain? The token is for none: name one" in user.refused("domain show")
        server.shutdown()


def test_sample_tokens_in_clouds_yaml(cloud: Cloud, openstack: OpenStackClient) -> None:
    (openstack.home / "clouds.yaml").write_text(
        f"""
clouds:
  berlin:
    auth_type: admin_token
    auth: {{endpoint: "{cloud.url}", token: berlin-member}}
    limes_domain: {GERMANY}
    limes_project: {BERLIN}
  elsewhere:
    auth_type: admin_token
    auth: {{endpoint: "http://127.0.0.1:9", token: berlin-member}}
    resources_endpoint_override: {cloud.url}
"""
    )
    show = "limes project show --resource cores -f value -c Usage"
    assert openstack.run(f"--os-cloud berlin {show}", {}).out == "5\n"
    ids = f"--os-limes-domain {GERMANY} --os-limes-project {BERLIN}"
    assert openstack.run(f"--os-cloud elsewhere {ids} {show}", {}).out == "5\n"
    (openstack.home / "clouds.yaml").unlink()


@pytest.mark.parametrize(
    "command",
    [
        "usage report --from 2025-12-01",
        "usage history",
        "forecast list",
        "subresource lifetime list",
        "alert list",
        "change list",
        "request list",
    ],
)
def test_lists_are_of_the_domain_that_a_token_is_for(cloud: Cloud, login: Login, germany: User, command: str) -> None:
    cloud.meter()
    assert germany.json(command) == germany.json(f"{command} --domain germany")
    for other in ("--domain germany", "--project berlin"):
        assert "goes with neither" in germany.refused(f"{command} --all-domains {other}")
    assert login("berlin-admin").json(command) == germany.json(f"{command} --project berlin")
