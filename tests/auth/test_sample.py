"""Sample identities: what the tokens say, the hierarchy for discovery, and which samples are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from limes.auth.context import Identity
from limes.auth.settings import IdentitySettings, SampleSettings
from limes.auth.without_keystone import SampleIdentities
from limes.kernel.errors import StartupError, Unauthorized

SAMPLE: dict[str, Any] = {
    "domains": [{"name": "north", "id": "d-north"}, {"name": "south"}],
    "projects": [
        {"name": "dresden", "domain": "north", "parent": "berlin", "id": "p-dresden"},
        {"name": "berlin", "domain": "north", "id": "p-berlin"},
        {"name": "munich", "domain": "south"},
    ],
    "users": [
        {
            "name": "ada",
            "id": "u-ada",
            "domain": "north",
            "assignments": [
                {"project": "berlin", "roles": ["member"]},
                {"project": "berlin", "roles": ["resource_admin", "member"]},
                {"domain": "north", "roles": ["resource_admin"]},
                {"system": "all", "roles": ["cloud_resource_admin"]},
            ],
        }
    ],
    "tokens": [
        {"token": "ada-berlin", "user": "ada", "project": "berlin"},
        {"token": "ada-north", "user": "ada", "domain": "north"},
        {"token": "ada-system", "user": "ada", "system": "all"},
    ],
    "own_token": "ada-system",
}
ADA = {"user_id": "u-ada", "user_name": "ada", "user_domain_id": "d-north", "user_domain_name": "north"}
BERLIN = {
    "project_id": "p-berlin",
    "project_name": "berlin",
    "project_domain_id": "d-north",
    "project_domain_name": "north",
}


@pytest.mark.parametrize(
    ("token", "identity"),
    [
        ("ada-berlin", Identity(**ADA, **BERLIN, roles=("member", "resource_admin"))),
        ("ada-north", Identity(**ADA, domain_id="d-north", domain_name="north", roles=("resource_admin",))),
        ("ada-system", Identity(**ADA, system_scope="all", roles=("cloud_resource_admin",))),
    ],
)
def test_tokens(token: str, identity: Identity) -> None:
    sample = SampleIdentities(SampleSettings.model_validate(SAMPLE))
    assert sample.authenticate({"HTTP_X_AUTH_TOKEN": token}) == identity


@pytest.mark.parametrize("environ", [{}, {"HTTP_X_AUTH_TOKEN": ""}, {"HTTP_X_AUTH_TOKEN": "ada"}])
def test_other_tokens_are_refused(environ: dict[str, str]) -> None:
    with pytest.raises(Unauthorized):
        SampleIdentities(SampleSettings.model_validate(SAMPLE)).authenticate(environ)


def test_domains_and_projects_for_discovery() -> None:
    sample = SampleIdentities(SampleSettings.model_validate(SAMPLE))
    north, south = sample.domains
    assert (north.id, north.name, south.name) == ("d-north", "north", "south")
    assert [(one.id, one.parent_id, one.domain) for one in sample.projects[:2]] == [
        ("p-dresden", "p-berlin", north),
        ("p-berlin", "d-north", north),
    ]
    munich = sample.projects[2]
    assert (munich.name, munich.parent_id, len(munich.id)) == ("munich", south.id, 32)


def test_ids_made_from_names_stay_the_same() -> None:
    one, other = (SampleIdentities(SampleSettings.model_validate(SAMPLE)) for _ in range(2))
    assert one.projects == other.projects
    assert len({project.id for project in one.projects} | {domain.id for domain in one.domains}) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domains": [{"name": "north"}, {"name": "north"}, {"name": "south"}]}, "'north' is given 2 times"),
        ({"projects": [{"name": "berlin", "domain": "west"}]}, "unknown domain 'west'"),
        ({"projects": [{"name": "berlin", "domain": "north", "parent": "bonn"}]}, "unknown parent 'bonn'"),
        (
            {
                "projects": [
                    {"name": "berlin", "domain": "north", "parent": "pankow"},
                    {"name": "pankow", "domain": "north", "parent": "berlin"},
                ]
            },
            "is its own ancestor",
        ),
        (
            {"projects": [{"name": "berlin", "domain": "north", "parent": "munich"}, SAMPLE["projects"][2]]},
            "another domain than its parent",
        ),
        ({"tokens": [{"token": "x", "user": "bob", "project": "berlin"}]}, "unknown user 'bob'"),
        ({"tokens": [{"token": "x", "user": "ada", "project": "munich"}]}, "on which that user has no roles"),
        ({"own_token": "other"}, "own_token is none of the tokens"),
        ({"tokens": [SAMPLE["tokens"][0]] * 2, "own_token": None}, "tokens: one is given 2 times"),
        ({"users": [{"name": "ada", "domain": "north", "assignments": [{"roles": ["a"]}]}]}, "exactly one of project"),
        (
            {"users": [{"name": "ada", "domain": "north", "assignments": [{"roles": ["a"], "project": "bonn"}]}]},
            "roles on the unknown project 'bonn'",
        ),
    ],
)
def test_contradictions_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        SampleSettings.model_validate(SAMPLE | change)
    assert "ada-berlin" not in str(caught.value)  # a token


@pytest.mark.parametrize("method", ["sample", "noauth"])
@pytest.mark.parametrize("address", ["0.0.0.0:8080", "10.1.2.3:8080", "[::]:8080", "limes.example.org:80"])
def test_sample_and_noauth_are_not_served_to_the_network(method: str, address: str) -> None:
    listen = {"placement.listen": "127.0.0.1:8081", "api.listen": address}
    with pytest.raises(StartupError) as caught:
        IdentitySettings.model_validate({"method": method}).refuse_exposure(listen)
    message = str(caught.value)
    assert message.startswith("api.listen: ")
    assert address in message
    assert "\n" not in message
    IdentitySettings.model_validate({"method": method, "allow_non_loopback": True}).refuse_exposure(listen)


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "127.8.8.8:1", "localhost:8080", "[::1]:8080"])
def test_sample_is_served_on_loopback(address: str) -> None:
    IdentitySettings(method="sample").refuse_exposure({"api.listen": address})


def test_keystone_is_served_anywhere() -> None:
    IdentitySettings(method="keystone").refuse_exposure({"api.listen": "0.0.0.0:8080"})
