"""A real Keystone that trusts a real OpenID provider: its identity provider `acme` with the protocol `openid`."""

import shutil
from pathlib import Path

from tests.support.keystone import RealKeystone
from tests.support.keystone_seed import create
from tests.support.keystone_server import KeystoneServer
from tests.support.openid_provider import OpenIdProvider
from tests.support.processes import ServerProcess, http_answers
from tests.support.real import RealVenv

_CONFIG = """
[auth]
methods = password,token,openid,mapped,application_credential
[federation]
trusted_dashboard = {trusted}
remote_id_attribute = HTTP_OIDC_ISS
sso_callback_template = {template}
"""


class FederatedKeystone(KeystoneServer):
    """A server (not started) with a copy of another one's database and keys."""

    def __init__(self, venv: RealVenv, original: KeystoneServer, folder: Path, issuer: str, trusted: str) -> None:
        """`trusted` is the address to which WebSSO may post tokens."""
        self._issuer = issuer
        shutil.copytree(original.folder, folder)
        super().__init__(venv, folder)
        template = venv.folder / "etc" / "keystone" / "sso_callback_template.html"
        with (folder / "keystone.conf").open("a") as file:
            file.write(_CONFIG.format(trusted=trusted, template=template))

    def _server(self) -> ServerProcess:
        env = {"OS_KEYSTONE_CONFIG_DIR": str(self.folder), "BOOTSTRAP_URL": self.url, "OIDC_ISSUER": self._issuer}
        app, ready = "federated_keystone:application", http_answers(self.url)
        return self._venv.gunicorn(app, self.port, env=env, folder=self.folder, ready=ready)

    @property
    def client(self) -> dict[str, object]:
        """What it is to the provider."""
        redirect_uri = f"{self.url}/redirect_uri"
        return {"client_id": "keystone", "client_secret": "keystone-secret", "redirect_uris": [redirect_uri]}


def trust(keystone: RealKeystone, provider: OpenIdProvider) -> None:
    """Has Keystone map people of the provider. Staff are members of the project berlin, and look after the domain
    north; guests are let in, and have no roles; others are not let in."""
    api, ids = keystone.api, keystone.ids
    staff = create(api, "groups", name="staff", domain_id=ids.domains["north"])
    for path, role in (
        (f"/projects/{ids.projects['berlin']}", "member"),
        (f"/domains/{ids.domains['north']}", "resource_admin"),
    ):
        api.put(f"{path}/groups/{staff}/roles/{ids.roles[role]}")
    name = {"type": "HTTP_OIDC_PREFERRED_USERNAME"}
    rules = [
        {
            "local": [{"user": {"name": "{0}"}}, {"group": {"id": staff}}],
            "remote": [name, {"type": "HTTP_OIDC_GROUPS", "any_one_of": ["staff"]}],
        },
        {
            "local": [{"user": {"name": "{0}"}}],
            "remote": [name, {"type": "HTTP_OIDC_GROUPS", "any_one_of": ["guests"]}],
        },
    ]
    api.put("/OS-FEDERATION/mappings/acme", json={"mapping": {"rules": rules}})
    body = {"identity_provider": {"remote_ids": [provider.issuer], "domain_id": ids.domains["north"], "enabled": True}}
    api.put("/OS-FEDERATION/identity_providers/acme", json=body)
    api.put("/OS-FEDERATION/identity_providers/acme/protocols/openid", json={"protocol": {"mapping_id": "acme"}})
