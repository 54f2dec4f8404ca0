"""The section `ui` of the configuration: every problem at once, and secrets from the environment."""

from pathlib import Path
from typing import Any

import pytest

from limes.app.settings import Settings, parse
from limes.kernel.errors import ConfigError

OIDC = {
    "type": "oidc",
    "id": "acme",
    "label": "Acme",
    "protocol": "openid",
    "identity_provider": "acme",
    "issuer": "https://id.example.com",
    "client_id": "limes",
}
WEBSSO = {"type": "websso", "id": "sso", "label": "SSO", "protocol": "openid"}


def _parse(ui: dict[str, Any], method: str = "keystone", **environ: str) -> Settings:
    document = {
        "availability_zones": ["a"],
        "services": [{"service_type": "s", "type": "static"}],
        "identity": {"method": method, "keystone": {"cloud": "c"}},
        "ui": ui,
    }
    return parse(document, environ, Path("/"))


def _problems(ui: dict[str, Any], method: str = "keystone") -> list[str]:
    with pytest.raises(ConfigError) as refused:
        _parse(ui, method)
    return refused.value.problems


def test_what_is_right() -> None:
    ui = _parse({"url": "https://limes.example.com/", "sign_in_with": [OIDC, WEBSSO], "password_sign_in": False}).ui
    assert (ui.url, [provider.id for provider in ui.sign_in_with]) == ("https://limes.example.com", ["acme", "sso"])


def test_secrets_come_from_the_environment() -> None:
    secrets = {
        "LIMES_UI_CLIENT_SECRET_ACME": "client-secret",
        "LIMES_UI_CLIENT_SECRET_A_B": "other-secret",
        "LIMES_UI_SECRET": "sixteen-characters",
    }
    ui = _parse({"url": "https://l.example.com", "sign_in_with": [OIDC, OIDC | {"id": "a-b"}]}, **secrets).ui
    assert [provider.client_secret for provider in ui.sign_in_with] == ["client-secret", "other-secret"]
    assert ui.secret == "sixteen-characters"
    assert "client-secret" not in repr(ui)


def test_all_problems_at_once() -> None:
    entries = [
        {"type": "oidc", "id": "Bad Id", "label": "x", "protocol": "openid", "issuer": "http://id.example.com"},
        {**WEBSSO, "label": "", "lable": "x"},
        {**WEBSSO, "type": "saml", "scopes": ["email"]},
    ]
    assert _problems({"sign_in_with": entries}) == [
        "ui.sign_in_with: id 'sso' is given 2 times",
        "ui.sign_in_with: this needs ui.url, the address that people are sent back to",
        "ui.sign_in_with[0].id: expected something that matches ^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$, not 'Bad Id'",
        "ui.sign_in_with[0].identity_provider: missing; type oidc needs it",
        "ui.sign_in_with[0].issuer: expected https://..., or http://... on this machine, without user, query and fragment,"
        " not 'http://id.example.com'",
        "ui.sign_in_with[0].client_id: missing; type oidc needs it",
        "ui.sign_in_with[1].label: must not be empty",
        "ui.sign_in_with[1].lable: unknown key; did you mean label?",
        "ui.sign_in_with[2].type: expected 'websso' or 'oidc', not 'saml'",
        "ui.sign_in_with[2].scopes: openid has to be among them",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "http://limes.example.com",
        "limes",
        "https://u:p@l.example.com",
        "https://l.example.com/?x",
        "https://[",
        "ftp://x",
    ],
)
def test_addresses_that_are_not_safe(url: str) -> None:
    (problem,) = _problems({"url": url})
    assert problem.startswith("ui.url: expected https://..., or http://... on this machine")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])
def test_addresses_of_this_machine(url: str) -> None:
    assert _parse({"url": url, "sign_in_with": [OIDC | {"issuer": url}]}).ui.url == url


def test_somebody_has_to_get_in() -> None:
    assert _problems({"password_sign_in": False}) == [
        "ui.password_sign_in: false needs an entry in ui.sign_in_with, or else people could not sign in"
    ]


def test_without_keystone_there_is_no_token() -> None:
    ui = {"url": "https://l.example.com", "sign_in_with": [WEBSSO]}
    (problem,) = _problems(ui, method="sample")
    assert "identity.method has to be keystone" in problem
