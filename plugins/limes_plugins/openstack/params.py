"""The `params` that say how a service is found, common to all plugins for OpenStack services."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from limes.backends import Params

Text = Annotated[str, Field(min_length=1)]


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
    interface: Text = "public"
    region_name: Text | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> "ConnectionParams":
        if self.auth.type != "session" and self.endpoint is None:
            raise ValueError("without a Keystone session the endpoint must be given")
        return self
