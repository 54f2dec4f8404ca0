"""The `params` that say how a service is found, common to all plugins for OpenStack services."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from limes.backends import Params, ResourceName

Text = Annotated[str, Field(min_length=1)]


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return value


Expression = Annotated[str, AfterValidator(_expression)]
"""A regular expression that is looked for anywhere in a name."""


class AuthParams(Params):
    """With which token to come to the service."""

    type: Literal["session", "token", "none"] = "session"
    """`session`: the configured Keystone credentials. `token`: a fixed token, for labs without Keystone. `none`: no
    token at all."""
    token: SecretStr | None = None

    @model_validator(mode="after")
    def _token_goes_with_its_type(self) -> "AuthParams":
        if (self.type == "token") != (self.token is not None):
            raise ValueError("a token must be given if, and only if, the type is 'token'")
        return self


class ConnectionParams(Params):
    """How the service is found."""

    auth: AuthParams = AuthParams()
    endpoint: Text | None = None
    """The service's URL, where it is not that of the Keystone catalog."""
    interface: Text | None = None
    """Without, that of `identity.keystone`."""
    region_name: Text | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> "ConnectionParams":
        if self.auth.type != "session" and self.endpoint is None:
            raise ValueError("without a Keystone session the endpoint must be given")
        return self


class KeystoneLimitParams(Params):
    """Where the backend quota lives, if Keystone's unified limits are one of the places."""

    store: str
    service_type: Text | None = None
    """The service in Keystone's catalog to which the limits belong; without, the configured `service_type`."""
    service_name: Text | None = None
    """Needed where the catalog has several services of that type."""
    region_id: Text | None = None
    """The region of the limits; without, limits without region are used."""
    limit_names: dict[ResourceName, Text] = Field(default_factory=dict)
    """Names of the limits by resource; without, as Nova names them: `class:VCPU` and so on."""
    default_limit: Annotated[int, Field(ge=-1, le=2**31 - 1)] = 0
    """The default of registered limits that are missing and have to be made. -1 means unlimited."""

    @model_validator(mode="after")
    def _only_what_the_store_knows(self) -> "KeystoneLimitParams":
        if self.store != "keystone_limits" and self.model_fields_set - {"store"}:
            raise ValueError("the other keys go with the store 'keystone_limits' only")
        return self
