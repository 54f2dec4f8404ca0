"""What tests do with the real Keystone: get tokens of every kind, and change what lives in it."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
from keystoneauth1 import session as ksa
from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import v3

from tests.support.keystone_seed import PASSWORD, PROJECTS, USERS, Seeded, create, seed
from tests.support.keystone_server import ADMIN_PASSWORD, KeystoneServer


class RealKeystone:
    """A seeded Keystone. `ids` has the ids by name; see `keystone_seed` for who is who."""

    def __init__(self, server: KeystoneServer, ids: Seeded | None = None) -> None:
        self.server = server
        self.url = server.url
        auth = v3.Password(
            auth_url=self.url,
            username="admin",
            password=ADMIN_PASSWORD,
            user_domain_id="default",
            project_name="admin",
            project_domain_id="default",
        )
        self.api = Adapter(ksa.Session(auth, timeout=200), endpoint_override=self.url)
        """An adapter with the bootstrap administrator's token, for whatever the methods below don't do."""
        self.ids = ids or seed(self.api)

    def credentials(self, user: str, project: str = "service") -> dict[str, str]:
        """The parameters of a password login, by the names that keystoneauth1 and clouds.yaml use."""
        return {
            "auth_url": self.url,
            "username": user,
            "password": PASSWORD,
            "user_domain_id": self.ids.domains[USERS[user][0]],
            "project_name": project,
            "project_domain_id": self.ids.domains[PROJECTS[project][0]],
        }

    # -- tokens ------------------------------------------------------------------------------------------------------

    def project_token(self, user: str, project: str) -> str:
        """A token of `user` for a project."""
        return self._password_token(user, {"project": {"id": self.ids.projects[project]}})

    def domain_token(self, user: str, domain: str) -> str:
        """A token of `user` for a domain."""
        return self._password_token(user, {"domain": {"id": self.ids.domains[domain]}})

    def system_token(self, user: str) -> str:
        """A token of `user` for the whole system."""
        return self._password_token(user, {"system": {"all": True}})

    def unscoped_token(self, user: str) -> str:
        """A token of `user` for nothing in particular."""
        return self._password_token(user, "unscoped")

    def application_credential_token(self, user: str, project: str, lives: float | None = None) -> str:
        """A token from a new application credential. With `lives`, both expire after so many seconds.

        This is how Keystone can be made to issue a short-lived token: it never outlives its credential. On a machine
        that is too slow to use it in time, they live longer.
        """
        while True:
            try:
                made = self.application_credential(user, project, lives)
                method = {"id": made["id"], "secret": made["secret"]}
                return self._token({"methods": ["application_credential"], "application_credential": method}, None)
            except AssertionError:
                if lives is None or lives > 60:
                    raise
                lives *= 3

    def limited_token(self, user: str, project: str) -> str:
        """A token from an application credential that is limited to some requests, by access rules."""
        made = self.application_credential(
            user, project, access_rules=[{"path": "/v1/**", "method": "GET", "service": "resources"}]
        )
        method = {"id": made["id"], "secret": made["secret"]}
        return self._token({"methods": ["application_credential"], "application_credential": method}, None)

    def application_credential(
        self, user: str, project: str, lives: float | None = None, **attributes: Any
    ) -> dict[str, Any]:
        """A new application credential with the user's roles on a project; `id` and `secret` are a login."""
        token = self.project_token(user, project)
        expires = None if lives is None else datetime.now(UTC) + timedelta(seconds=lives)
        answer = requests.post(
            f"{self.url}/users/{self.ids.users[user]}/application_credentials",
            headers={"X-Auth-Token": token},
            json={
                "application_credential": {
                    "name": f"test-{uuid.uuid4()}",
                    **({"expires_at": expires.strftime("%Y-%m-%dT%H:%M:%S.%f")} if expires else {}),
                    **attributes,
                }
            },
            timeout=200,
        )
        made: dict[str, Any] = _checked(answer).json()["application_credential"]
        return made

    def revoked_token(self, user: str, project: str) -> str:
        """A token of `user` for a project that was revoked again."""
        token = self.project_token(user, project)
        self.revoke(token)
        return token

    def revoke(self, token: str) -> None:
        """Revokes a token."""
        self.api.delete("/auth/tokens", headers={"X-Subject-Token": token})

    def _password_token(self, user: str, scope: Any) -> str:
        password = {"user": {"id": self.ids.users[user], "password": ADMIN_PASSWORD if user == "admin" else PASSWORD}}
        return self._token({"methods": ["password"], "password": password}, scope)

    def _token(self, identity: dict[str, Any], scope: Any) -> str:
        body = {"auth": {"identity": identity, **({} if scope is None else {"scope": scope})}}
        answer = requests.post(f"{self.url}/auth/tokens?nocatalog", json=body, timeout=200)
        return _checked(answer).headers["X-Subject-Token"]

    # -- changes -----------------------------------------------------------------------------------------------------

    def create_domain(self, name: str) -> str:
        """Makes a domain and answers its id."""
        self.ids.domains[name] = create(self.api, "domains", name=name)
        return self.ids.domains[name]

    def delete_domain(self, name: str) -> None:
        """Disables and deletes a domain."""
        domain_id = self.ids.domains.pop(name)
        self.api.patch(f"/domains/{domain_id}", json={"domain": {"enabled": False}})
        self.api.delete(f"/domains/{domain_id}")

    def create_project(self, name: str, domain: str, parent: str | None = None) -> str:
        """Makes a project and answers its id."""
        extra = {"parent_id": self.ids.projects[parent]} if parent else {}
        made = create(self.api, "projects", name=name, domain_id=self.ids.domains[domain], **extra)
        self.ids.projects[name] = made
        return made

    def delete_project(self, name: str) -> None:
        """Deletes a project."""
        self.api.delete(f"/projects/{self.ids.projects.pop(name)}")

    def endpoint(self, service_type: str) -> str:
        """The URL of a catalog entry."""
        service_id = self.ids.services[service_type]
        return str(self.api.get(f"/endpoints?service_id={service_id}").json()["endpoints"][0]["url"])

    def set_endpoint(self, service_type: str, url: str) -> None:
        """Points all interfaces of a catalog entry at `url`."""
        service_id = self.ids.services[service_type]
        for endpoint in self.api.get(f"/endpoints?service_id={service_id}").json()["endpoints"]:
            self.api.patch(f"/endpoints/{endpoint['id']}", json={"endpoint": {"url": url}})


def _checked(answer: requests.Response) -> requests.Response:
    assert answer.status_code < 400, f"{answer.request.method} {answer.url}: {answer.status_code} {answer.text}"
    return answer
