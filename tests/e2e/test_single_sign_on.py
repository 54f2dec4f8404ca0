"""Single sign-on with a real Keystone and a real OpenID provider, each of which is another site than the dashboard.

Answers that count for nothing are those that an attacker, or a bookmark, would bring.
"""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import falcon
import falcon.testing
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from limes.ui.attempts import COOKIE, Attempts, UsedNumbers
from tests.e2e.axe import violations
from tests.e2e.browser import watched_page
from tests.e2e.cloud import NewCloud
from tests.support.clock import FrozenClock
from tests.support.federation import FederatedKeystone, trust
from tests.support.keystone import RealKeystone
from tests.support.openid_provider import OpenIdProvider
from tests.support.processes import free_port
from tests.support.real import RealVenv

SECRET = "a-secret-of-all-apis"
ELSEWHERE = "http://127.0.0.3:81"
NOT_BEGUN = (
    "Limes: this is not the answer to a sign-in that was started in this browser, or it was used already; sign in again"
)


@dataclass
class Cloud:
    """The dashboard at `localhost`, which is a site of its own."""

    url: str
    keystone: RealKeystone
    issuer: str


@pytest.fixture(scope="module")
def cloud(
    new_cloud: NewCloud, keystone: RealKeystone, real_venv: RealVenv, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cloud]:
    folder, port = tmp_path_factory.mktemp("federation"), free_port()
    url = f"http://localhost:{port}"
    provider = OpenIdProvider(folder)
    server = FederatedKeystone(
        real_venv, keystone.server, folder / "keystone", provider.issuer, f"{url}/ui/sign-in/school"
    )
    client = {
        "client_id": "limes",
        "token_endpoint_auth_method": "none",
        "redirect_uris": [f"{url}/ui/sign-in/{name}" for name in ("acme", "lost")],
        "post_logout_redirect_uris": [f"{url}/ui"],
    }
    command = {
        "client_id": "openstack",
        "token_endpoint_auth_method": "none",
        "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"],
        "response_types": [],
        "redirect_uris": [],
    }
    with_secret = {"client_id": "web", "client_secret": "of-the-web", "redirect_uris": ["http://localhost:1/"]}
    with provider.process(client, command, with_secret, server.client), server.process:
        federated = RealKeystone(server, keystone.ids)
        federated.set_endpoint("identity", server.url)
        trust(federated, provider)
        common = {"protocol": "openid", "identity_provider": "acme", "client_id": "limes"}
        providers = [
            {"type": "oidc", "id": "acme", "label": "Acme", "issuer": provider.issuer, **common},
            {"type": "websso", "id": "school", "label": "University", "protocol": "openid"},
            {
                "type": "oidc",
                "id": "lost",
                "label": "Lost",
                "issuer": provider.issuer,
                **common,
                "identity_provider": "no",
            },
            {"type": "oidc", "id": "down", "label": "Nobody", "issuer": "http://127.0.0.1:9", **common},
        ]
        with new_cloud(
            port=port,
            discovery={"method": "list", "only_domains": "north|south"},
            identity={"method": "keystone", "keystone": federated.credentials("limes"), "cache": {"ttl": 1}},
            ui={"url": url, "secret": SECRET, "sign_in_with": providers},
        ) as made:
            made.start(fill=False)
            yield Cloud(url, federated, provider.issuer)


@pytest.fixture
def page(browser: Browser, cloud: Cloud) -> Iterator[Page]:
    with watched_page(browser, cloud.url) as watched:
        # the security policies of the pages of others are not ours
        watched.page.goto("/ui")
        yield watched.page
        watched.problems[:] = [one for one in watched.problems if cloud.url in one or "oidc-provider" not in one]


def _enter_at_provider(page: Page, user: str) -> None:
    """What the provider asks for: who one is, and whether the client may know."""
    page.get_by_placeholder("Enter any login").fill(user)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def _sign_in(page: Page, user: str, label: str = "Acme") -> None:
    page.get_by_role("button", name=f"Sign in with {label}").click()
    _enter_at_provider(page, user)


def _answer_of(page: Page, user: str = "ada") -> str:
    """The address with a good answer, which was not used: the page comes too late to hand it over."""
    page.route("**/ui/session", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    with page.expect_request(lambda request: "/ui/sign-in/acme?" in request.url) as found:
        _sign_in(page, user)
    expect(page.get_by_role("alert")).to_contain_text("Limes is not answering")
    page.unroute("**/ui/session")
    return found.value.url


def _expect_refusal(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("alert")).to_have_text(text)
    expect(page).to_have_url(re.compile("/ui$"))
    names = {one["name"] for one in page.context.cookies(f"{page.url}/session")}
    assert "limes-session" not in names


@pytest.mark.parametrize("label", ["Acme", "University"])
def test_there_and_back(page: Page, cloud: Cloud, label: str) -> None:
    """Takes long: pages of three servers, one after the other."""
    expect(page.get_by_role("button", name=f"Sign in with {label}")).to_be_visible()
    assert violations(page) == []
    page.goto("/ui/usage?days=7")
    _sign_in(page, "ada", label)
    expect(page.get_by_text("What do you want to work on?")).to_be_visible()
    expect(page).to_have_url(f"{cloud.url}/ui/usage?days=7")
    assert violations(page) == []
    page.reload()
    page.get_by_role("button", name="berlin").click()
    page.locator(".menu summary").click()
    expect(page.get_by_text("ada @ north")).to_be_visible()
    page.get_by_role("button", name="Switch scope").click()
    page.get_by_role("button", name="north domain").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("north domain")
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert kept == '[{},{},""]'
    cookies = {one["name"]: one for one in page.context.cookies(f"{cloud.url}/ui/session")}
    assert cookies.keys() == {"limes-session"}
    tokens = cookies["limes-session"]["value"].split("|")[1:3]
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    if label == "Acme":
        page.get_by_role("button", name="Yes, sign me out").click()
        expect(page).to_have_url(f"{cloud.url}/ui")
    expect(page.get_by_role("button", name=f"Sign in with {label}")).to_be_visible()
    for token in tokens:
        headers = {"X-Subject-Token": token}
        assert cloud.keystone.api.get("/auth/tokens", headers=headers, raise_exc=False).status_code == 404


def test_who_does_not_want_to(page: Page) -> None:
    page.get_by_role("button", name="Sign in with Acme").click()
    page.get_by_role("link", name=re.compile("Cancel")).click()
    _expect_refusal(page, "the provider Acme has refused the sign-in (access_denied)")
    assert violations(page) == []


def test_who_has_no_role(page: Page) -> None:
    _sign_in(page, "guest")
    expect(page.get_by_text("you have no role on any project or domain")).to_be_visible()
    assert violations(page) == []


@pytest.mark.long
def test_without_passwords(new_cloud: NewCloud, browser: Browser, keystone: RealKeystone) -> None:
    port = free_port()
    url = f"http://localhost:{port}"
    provider = {"type": "websso", "id": "school", "label": "University", "protocol": "openid"}
    with new_cloud(
        port=port,
        discovery={"method": "list", "only_domains": "north"},
        identity={"method": "keystone", "keystone": keystone.credentials("limes")},
        ui={"url": url, "sign_in_with": [provider], "password_sign_in": False},
    ) as made:
        made.start(fill=False)
        with watched_page(browser, made.url) as watched:
            page = watched.page
            page.goto("/ui")
            expect(page.get_by_role("button", name="Sign in with University")).to_be_visible()
            expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_hidden()
            page.get_by_text("Other ways to sign in").click()
            expect(page.get_by_role("radio")).to_have_count(2)
            assert violations(page) == []
            page.get_by_role("button", name="Sign in with University").click()
            text = f"Limes: single sign-on works at {url}/ui, not at other addresses; sign in there"
            expect(page.get_by_role("alert")).to_have_text(text)
            page.get_by_role("radio", name="Token").check()
            page.get_by_label("Token", exact=True).last.fill(keystone.domain_token("north-admin", "north"))
            page.get_by_role("button", name="Sign in", exact=True).click()
            expect(page.get_by_role("heading", level=1)).to_have_text("north domain")


@pytest.mark.long
def test_whom_keystone_does_not_know(page: Page) -> None:
    _sign_in(page, "stranger")
    _expect_refusal(page, re.compile("^Keystone does not accept you: the mapping of acme/openid has no rule"))


@pytest.mark.long
def test_a_provider_that_keystone_does_not_know(page: Page) -> None:
    _sign_in(page, "ada", "Lost")
    _expect_refusal(page, re.compile("^Keystone has no identity provider 'no' with the protocol 'openid'"))


@pytest.mark.long
def test_a_provider_that_is_down(page: Page) -> None:
    page.get_by_role("button", name="Sign in with Nobody").click()
    _expect_refusal(page, "the provider Nobody cannot be asked: connection refused")


@pytest.mark.long
def test_a_provider_that_there_is_not(page: Page) -> None:
    page.goto("/ui/sign-in/other?code=c&state=s")
    _expect_refusal(page, "Limes: there is no provider 'other'; there are: acme, school, lost, down")


def test_a_replayed_answer(page: Page, cloud: Cloud) -> None:
    address = _answer_of(page)
    (cookie,) = (one for one in page.context.cookies(f"{cloud.url}/ui/session") if one["name"] == COOKIE)
    page.goto(address)
    expect(page.get_by_text("What do you want to work on?")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    expect(page.get_by_role("button", name="Sign in with Acme")).to_be_visible()
    page.goto(address)
    _expect_refusal(page, NOT_BEGUN)
    page.context.add_cookies([{name: cookie[name] for name in ("name", "value", "domain", "path")}])
    page.goto(address)
    _expect_refusal(page, "Limes: the answer to this sign-in was used before; sign in again")


def test_an_answer_in_another_browser(page: Page, browser: Browser, cloud: Cloud) -> None:
    """A link with the attacker's code would sign a victim in as the attacker."""
    address = _answer_of(page)
    with watched_page(browser, cloud.url) as victim:
        victim.page.goto(address)
        _expect_refusal(victim.page, NOT_BEGUN)
        victim.page.get_by_role("button", name="Sign in with Acme").click()
        expect(victim.page.get_by_placeholder("Enter any login")).to_be_visible()
        victim.page.goto(address)
        text = "Limes: this answer is not the one to the sign-in that this browser has started last; sign in again"
        _expect_refusal(victim.page, text)


@pytest.mark.long
def test_a_forged_answer(page: Page) -> None:
    address = _answer_of(page)
    state = parse_qs(urlsplit(address).query)["state"][0]
    page.goto(address.replace(state, state[::-1]))
    _expect_refusal(
        page, "Limes: this answer is not the one to the sign-in that this browser has started last; sign in again"
    )


@pytest.mark.long
def test_a_made_up_code(page: Page) -> None:
    address = _answer_of(page)
    page.goto(re.sub("code=[^&]*", "code=made-up", address))
    text = "the provider Acme does not know this code, or not any more (invalid_grant); sign in again"
    _expect_refusal(page, text)


def test_an_answer_that_comes_too_late(page: Page, cloud: Cloud) -> None:
    clock = FrozenClock()
    clock.advance(datetime.now(UTC).timestamp() - clock.now().timestamp() - 601)
    attempts = Attempts(hashlib.sha256(SECRET.encode()).digest(), clock, UsedNumbers(clock, None))
    resp = falcon.Response()
    attempt = attempts.begin(falcon.testing.create_req(), resp, "acme", "/ui")
    (value,) = re.findall(f"{COOKIE}=([^;]*)", str(resp._cookies))
    page.context.add_cookies([{"name": COOKIE, "value": value, "url": f"{cloud.url}/ui/session"}])
    page.goto(f"/ui/sign-in/acme?code=c&state={attempts.derive(attempt, 'state')}")
    _expect_refusal(page, "Limes: this sign-in took longer than 10 minutes; sign in again")


def _post_from_elsewhere(context: BrowserContext, page: Page, cloud: Cloud, token: str) -> None:
    form = f'<form method="post" action="{cloud.url}/ui/sign-in/school"><input name="token" value="{token}"></form>'
    html = f"<!doctype html><title>Elsewhere</title>{form}<script>document.forms[0].submit()</script>"
    context.route(f"{ELSEWHERE}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"{ELSEWHERE}/", wait_until="commit")


def test_a_token_that_a_page_elsewhere_posts(page: Page, cloud: Cloud) -> None:
    """It would sign the victim in as whom the page likes, even while the victim is about to sign in."""
    token = cloud.keystone.unscoped_token("north-admin")
    page.get_by_role("button", name="Sign in with University").click()
    expect(page.get_by_placeholder("Enter any login")).to_be_visible()
    _post_from_elsewhere(page.context, page, cloud, token)
    origin = cloud.keystone.url.removesuffix("/v3")
    _expect_refusal(page, f"Limes: a page of {ELSEWHERE} has posted this, and not Keystone ({origin}); sign in here")
    assert token not in page.content()


@pytest.mark.long
def test_keystone_is_asked_from_elsewhere(page: Page, cloud: Cloud) -> None:
    """A page sends the victim to Keystone, whose answer nobody here has asked for."""
    origin = f"{cloud.url}/ui/sign-in/school"
    page.goto(f"{cloud.keystone.url}/auth/OS-FEDERATION/websso/openid?origin={origin}")
    _enter_at_provider(page, "ada")
    _expect_refusal(page, NOT_BEGUN)


# -- the openstack commands --------------------------------------------------------------------------------------------


def _openstack(cloud: Cloud, programs: Path, auth_type: str, **options: str) -> subprocess.Popen[str]:
    """`openstack token issue` with a login of docs/single-sign-on.md#the-openstack-commands."""
    login = {
        "auth_type": auth_type,
        "auth_url": cloud.keystone.url,
        "identity_provider": "acme",
        "protocol": "openid",
        "client_id": "openstack",
        "discovery_endpoint": f"{cloud.issuer}/.well-known/openid-configuration",
        "project_name": "berlin",
        "project_domain_name": "north",
        **options,
    }
    env = {**os.environ, **{f"OS_{key.upper()}": value for key, value in login.items()}}
    command = [programs / "openstack", "token", "issue", "-f", "json"]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _expect_token_of_berlin(cloud: Cloud, command: subprocess.Popen[str]) -> None:
    out, err = command.communicate(timeout=120)
    assert command.returncode == 0, err
    assert json.loads(out)["project_id"] == cloud.keystone.ids.projects["berlin"]


@pytest.mark.long
def test_a_command_that_shows_a_code(page: Page, cloud: Cloud, programs: Path) -> None:
    """Takes long: the command asks the provider every five seconds."""
    command = _openstack(cloud, programs, "v3oidcdeviceauthz", code_challenge_method="S256")
    assert command.stderr is not None
    address = next(found[0] for line in command.stderr if (found := re.search(r"http://\S+", line)))
    page.goto(address)
    page.get_by_role("button", name="Continue").click()
    _enter_at_provider(page, "ada")
    _expect_token_of_berlin(cloud, command)


@pytest.mark.long
def test_a_command_that_takes_a_code(page: Page, cloud: Cloud, programs: Path) -> None:
    query = {"response_type": "code", "client_id": "web", "redirect_uri": "http://localhost:1/"}
    with page.expect_request(lambda request: request.url.startswith("http://localhost:1/?")) as found:
        page.goto(f"{cloud.issuer}/auth?{urlencode({**query, 'scope': 'openid profile'})}")
        _enter_at_provider(page, "ada")
    code = parse_qs(urlsplit(found.value.url).query)["code"][0]
    options = {"client_id": "web", "client_secret": "of-the-web", "redirect_uri": "http://localhost:1/", "code": code}
    _expect_token_of_berlin(cloud, _openstack(cloud, programs, "v3oidcauthcode", **options))
