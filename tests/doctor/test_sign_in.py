"""What can be wrong with single sign-on, as far as Keystone and the providers say."""

from collections.abc import Iterator
from typing import Any

import pytest

from limes.kernel.findings import Level
from tests.doctor.patient import Patient
from tests.support.faulty_provider import FaultyProvider, faulty_provider
from tests.support.keystone import RealKeystone

URL = "https://limes.example.com"


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    with faulty_provider() as made:
        yield made


@pytest.fixture(scope="module")
def federated(keystone: RealKeystone) -> Iterator[RealKeystone]:
    """Keystone with the identity provider `acme`, which has the protocol `openid`."""
    path = "/OS-FEDERATION/identity_providers/acme"
    rules = [{"local": [{"user": {"name": "{0}"}}], "remote": [{"type": "NAME"}]}]
    keystone.api.put("/OS-FEDERATION/mappings/acme", json={"mapping": {"rules": rules}})
    body = {"enabled": True, "domain_id": keystone.ids.domains["north"]}
    keystone.api.put(path, json={"identity_provider": body})
    keystone.api.put(f"{path}/protocols/openid", json={"protocol": {"mapping_id": "acme"}})
    yield keystone
    keystone.api.delete(path)
    keystone.api.delete("/OS-FEDERATION/mappings/acme")


@pytest.fixture
def entries(light_patient: Patient, federated: RealKeystone, provider: FaultyProvider) -> list[dict[str, Any]]:
    """The providers of the configuration: to be changed."""
    entries: list[dict[str, Any]] = [
        {"type": "oidc", "id": "acme", "label": "Acme", "issuer": provider.url, "client_id": "limes"},
        {"type": "websso", "id": "sso", "label": "SSO"},
    ]
    for entry in entries:
        entry["protocol"] = "openid"
    entries[0]["identity_provider"] = "acme"
    light_patient.document["identity"] = {"method": "keystone", "keystone": federated.credentials("limes")}
    light_patient.document["ui"] = {"url": URL, "sign_in_with": entries}
    return entries


def test_all_is_well(light_patient: Patient, entries: list[dict[str, Any]], provider: FaultyProvider) -> None:
    keystone = light_patient.document["identity"]["keystone"]
    keystone["www_authenticate_uri"] = "https://keystone.example.com"
    found = light_patient.findings("sign_in")
    assert {one.level for one in found} == {Level.OK}, found
    assert [one.message for one in found] == [
        f"acme: {provider.url} needs the redirect URI {URL}/ui/sign-in/acme; for the sign-out, the post logout redirect"
        f" URI {URL}/ui",
        f"acme: the provider answers, is {provider.url}, and has a sign-out",
        "acme: Keystone knows acme with the protocol openid",
        f"sso: keystone.conf needs [federation] trusted_dashboard = {URL}/ui/sign-in/sso; browsers go to"
        " https://keystone.example.com/v3/auth/OS-FEDERATION/websso/openid",
        "sso: Keystone knows acme with the protocol openid",
    ]


def test_a_provider_that_is_another_one(
    light_patient: Patient, entries: list[dict[str, Any]], provider: FaultyProvider
) -> None:
    provider.discovery["issuer"] = "https://other.example.com"
    finding = light_patient.finding("sign_in.provider")
    assert finding.level is Level.PROBLEM
    assert "it says that its issuer is 'https://other.example.com'" in finding.message
    assert finding.mend.startswith(f"curl {provider.url}/.well-known/openid-configuration")


def test_a_provider_without_pkce(
    light_patient: Patient, entries: list[dict[str, Any]], provider: FaultyProvider
) -> None:
    provider.discovery["code_challenge_methods_supported"] = ["plain"]
    assert light_patient.finding("sign_in.provider").message == "acme: the provider does not know PKCE with S256"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"identity_provider": "other"}, "acme: Keystone has no identity provider 'other'; there are: acme"),
        ({"protocol": "saml2"}, "acme: in Keystone, the identity provider acme has no protocol 'saml2'"),
    ],
)
def test_keystone_does_not_know_it(
    light_patient: Patient, entries: list[dict[str, Any]], change: dict[str, str], message: str
) -> None:
    entries[0].update(change)
    finding = light_patient.findings("sign_in.keystone")[0]
    assert (finding.level, finding.message) == (Level.PROBLEM, message)


def test_no_provider_of_keystone_has_the_protocol(light_patient: Patient, entries: list[dict[str, Any]]) -> None:
    entries[1]["protocol"] = "saml2"
    finding = light_patient.findings("sign_in.keystone")[1]
    assert finding.message == "sso: in Keystone, no identity provider has a protocol 'saml2'"


def test_it_is_switched_off(light_patient: Patient, entries: list[dict[str, Any]], federated: RealKeystone) -> None:
    path = "/OS-FEDERATION/identity_providers/acme"
    federated.api.patch(path, json={"identity_provider": {"enabled": False}})
    try:
        assert {one.level for one in light_patient.findings("sign_in.keystone")} == {Level.WARNING}
    finally:
        federated.api.patch(path, json={"identity_provider": {"enabled": True}})


def test_keystone_does_not_tell_everybody(
    light_patient: Patient, entries: list[dict[str, Any]], federated: RealKeystone
) -> None:
    light_patient.document["identity"]["keystone"] = federated.credentials("berlin-member", "berlin")
    assert {one.level for one in light_patient.findings("sign_in.keystone")} == {Level.SKIPPED}


def test_without_providers_there_is_nothing_to_look_at(light_patient: Patient) -> None:
    assert light_patient.finding("sign_in").level is Level.SKIPPED
