"""How people sign in to the dashboard: at Keystone, and at providers of single sign-on."""

import hashlib

from limes.app.composition.identity import shared_folder
from limes.app.settings import Settings
from limes.auth.session import CloudSession
from limes.auth.tokens import RevokedTokens
from limes.kernel.system import Clock
from limes.ui import single_sign_on as sso
from limes.ui.attempts import Attempts, UsedNumbers
from limes.ui.browser import shared_key
from limes.ui.keystone_sign_in import KeystoneSignInMethod
from limes.ui.oidc import OidcClient
from limes.ui.settings import SignInProvider
from limes.ui.sign_in import SignInMethod


def at_keystone(settings: Settings, cloud: CloudSession, revoked: RevokedTokens | None = None) -> KeystoneSignInMethod:
    return KeystoneSignInMethod(
        cloud,
        settings.ui.user_domain,
        revoked,
        public_url=settings.identity.keystone.www_authenticate_uri,
        with_passwords=settings.ui.password_sign_in,
    )


def single_sign_on(settings: Settings, method: SignInMethod, cloud: CloudSession, clock: Clock) -> sso.SingleSignOn:
    folder, given = shared_folder(settings), settings.ui.secret
    key = hashlib.sha256(given.encode()).digest() if given is not None else shared_key(folder)
    attempts = Attempts(key, clock, UsedNumbers(clock, folder))
    providers: dict[str, sso.Provider] = {}
    if isinstance(method, KeystoneSignInMethod):  # the settings allow no providers otherwise
        for provider in settings.ui.sign_in_with:
            if provider.type == "websso":
                providers[provider.id] = sso.web_sso(provider, settings.ui.url, method)
            else:
                client = oidc_client(settings, provider, cloud, clock)
                providers[provider.id] = sso.Oidc(client, method, str(provider.identity_provider), provider.protocol)
    labels = {provider.id: provider.label for provider in settings.ui.sign_in_with}
    return sso.SingleSignOn(attempts, labels, providers, f"{settings.ui.url}/ui")


def oidc_client(settings: Settings, provider: SignInProvider, cloud: CloudSession, clock: Clock) -> OidcClient:
    address = sso.answer_address(settings.ui.url, provider.id)
    return OidcClient(provider, address, cloud.limits, clock, cloud.gate)
