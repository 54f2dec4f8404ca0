"""From the settings to an authenticator."""

from limes.auth.context import Authenticator
from limes.auth.gate import Gate
from limes.auth.keystone import KeystoneAuthenticator
from limes.auth.sample import SampleIdentities
from limes.auth.session import CloudSession
from limes.auth.token_cache import TokenCache
from limes.settings.identity import IdentitySettings
from limes.system import Clock


def build_authenticator(
    settings: IdentitySettings, cloud: CloudSession, clock: Clock, threads: int = 8
) -> Authenticator:
    """The authenticator for `identity.method: keystone` or `sample`; `noauth` is the Placement API's own.

    `threads` are those that answer requests in this process.
    """
    if settings.method == "sample":
        return SampleIdentities(settings.sample)
    uri = settings.keystone.www_authenticate_uri
    gate = Gate(settings.validations_at_once or max(1, threads // 2))
    if settings.validator == "keystonemiddleware":
        from limes.auth.middleware_keystone import MiddlewareAuthenticator  # slow to import, and rarely wanted

        return MiddlewareAuthenticator(
            cloud,
            ttl=settings.cache.ttl,
            timeout=settings.keystone.timeout,
            service_token_roles=settings.service_token_roles,
            www_authenticate_uri=uri,
            gate=gate,
            size=settings.cache.size,
        )
    cache = TokenCache(
        clock, ttl=settings.cache.ttl, negative_ttl=settings.cache.negative_ttl, size=settings.cache.size, gate=gate
    )
    return KeystoneAuthenticator(
        cloud, cache, clock, service_token_roles=settings.service_token_roles, www_authenticate_uri=uri
    )
