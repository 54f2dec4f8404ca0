"""Who has made a request, as audit events name them: all that the token says, and nothing of the token itself."""

import json
from collections.abc import Iterator

import falcon.testing
import pytest
from msgspec import structs

from limes.api.call import initiator_of
from limes.audit.events import Event, Initiator, Scope, of_job, render
from limes.auth.context import Identity
from limes.kernel import logs

ANNA = Identity(
    user_id="u1",
    user_name="anna",
    user_domain_id="d1",
    user_domain_name="acme",
    application_credential_id="ac1",
    roles=("admin",),
)
GLOBAL, LOCAL = "req-11111111-2222-3333-4444-555555555555", "req-66666666-7777-8888-9999-000000000000"


@pytest.fixture(autouse=True)
def _request_id() -> Iterator[None]:
    before = logs.request_id.set(f"{GLOBAL} {LOCAL}")
    yield
    logs.request_id.reset(before)


def told(who: Initiator) -> dict[str, object]:
    """The event about something that they did."""
    event = Event("update", "service/compute/cores/quota", "p1", Scope("d1", "acme"), {}, who, True, "HTTP", "200")
    document: dict[str, object] = json.loads(render(event, "e1", 0, "o1"))
    return document


@pytest.mark.parametrize(
    ("identity", "shown"),
    [
        (
            structs.replace(
                ANNA, project_id="p1", project_name="shop", project_domain_id="d1", project_domain_name="acme"
            ),
            {"project_id": "p1", "project_name": "shop"},
        ),
        (structs.replace(ANNA, domain_id="d1", domain_name="acme"), {"domain_id": "d1", "domain_name": "acme"}),
        (structs.replace(ANNA, system_scope="all"), {}),
    ],
)
def test_a_user(identity: Identity, shown: dict[str, str]) -> None:
    req = falcon.testing.create_req(
        path="/v1/domains", query_string="token=secret", headers={"User-Agent": "curl/8", "X-Auth-Token": "secret"}
    )
    document = told(initiator_of(req, identity))
    assert document["initiator"] == {
        "typeURI": "service/security/account/user",
        "id": "u1",
        "name": "anna",
        "domain": "acme",
        "application_credential_id": "ac1",
        "host": {"address": "127.0.0.1", "agent": "curl/8"},
        "request_id": LOCAL,
        "global_request_id": GLOBAL,
        **shown,
    }
    assert document["requestPath"] == "/v1/domains"
    assert "secret" not in json.dumps(document)


def test_a_job() -> None:
    document = told(of_job("scrape-usage:compute"))
    assert document["initiator"] == {
        "typeURI": "service/resources/job",
        "id": "limes-job-scrape-usage:compute",
        "name": "scrape-usage:compute",
        "request_id": "job-scrape-usage:compute",
    }
    assert "requestPath" not in document
