"""How people sign in to the dashboard: at Keystone, and at providers of single sign-on."""

import hashlib

from limes.app.composition.identity import shared_folder
from limes.app.settings import Settings
from limes.auth import session, tokens
from limes.kernel.system import Clock
from limes.ui import browser, keystone_sign_in, oidc, sign_in
from limes.ui import single_sign_on as sso
from limes.ui.attempts import Attempts, UsedNumbers
from limes.ui.settings import SignInProvider


def at_keystone(
    settings: Settings, cloud: session.CloudSession, revoked: tokens.RevokedTokens | None = None
) -> keystone_sign_in.KeystoneSignInMethod:
    return keystone_sign_in.KeystoneSignInMethod(
        cloud,
        settings.ui.user_domain,
        revoked,
        public_url=settings.identity.keystone.www_authenticate_uri,
        with_passwords=settings.ui.password_sign_in,
    )


def single_sign_on(
    settings: Settings, method: sign_in.SignInMethod, cloud: session.CloudSession, clock: Clock
) -> sso.SingleSignOn:
    folder, given = shared_folder(settings), settings.ui.secret
    key = hashlib.sha256(given.encode()).digest() if given is not None else browser.shared_key(folder)
    attempts = Attempts(key, clock, UsedNumbers(clock, folder))
    providers: dict[str, sso.Provider] = {}
    if isinstance(method, keystone_sign_in.KeystoneSignInMethod):  # the settings allow no providers otherwise
        for provider in settings.ui.sign_in_with:
            if provider.type == "websso":
                providers[provider.id] = sso.web_sso(provider, settings.ui.url, method)
            else:
                client = oidc_client(settings, provider, cloud, clock)
                providers[provider.id] = sso.Oidc(client, method, str(provider.identity_provider), provider.protocol)
    labels = {provider.id: provider.label for provider in settings.ui.sign_in_with}
    return sso.SingleSignOn(attempts, labels, providers, f"{settings.ui.url}/ui")


def oidc_client(
    settings: Settings, provider: SignInProvider, cloud: session.CloudSession, clock: Clock
) -> oidc.OidcClient:
    address = sso.answer_address(settings.ui.url, provider.id)
    return oidc.OidcClient(provider, address, cloud.limits, clock, cloud.gate)
