"""What the Limes API works with. `limes.composition` builds it from the configuration, tests as they need."""

from dataclasses import dataclass, field

from limes.actions.context import Limes
from limes.actions.mail_recipients import MailPreferences, Subscriptions
from limes.auth.context import Authenticator
from limes.auth.policy import Policy
from limes.web.client_address import ClientAddress
from limes.web.mount import Mount


@dataclass(frozen=True, slots=True)
class ApiCollaborators:
    """Everything that handlers may use."""

    limes: Limes
    authenticator: Authenticator
    policy: Policy
    client_address: ClientAddress = field(default_factory=ClientAddress)
    subscriptions: Subscriptions | None = None
    """Who does not want which mails."""
    mail_settings: MailPreferences | None = None
    """Which mails users get; None: users get none."""
    mounts: tuple[Mount, ...] = ()
    """What is served beside the API: the dashboard."""
