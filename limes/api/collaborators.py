"""What the Limes API works with. `limes.composition` builds it from the configuration, tests as they need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from limes.actions.context import Limes
from limes.actions.growth.history import ReportGrowth
from limes.actions.mails.mail_settings import MailSettings
from limes.actions.mails.subscriptions import Subscriptions
from limes.actions.metering.report import ReportUsage
from limes.audit.initiator import Initiator
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
    usage: ReportUsage
    growth: ReportGrowth
    discover_domains: Callable[[Initiator], Sequence[str]]
    """Looks for domains in Keystone and returns the UUIDs of the new ones."""
    discover_projects: Callable[[str, Initiator], Sequence[str]]
    """Looks for projects of the domain with that UUID and returns the UUIDs of the new ones. Raises `NotFound`."""
    request_sync: Callable[[str, str, Initiator], None]
    """Asks for a scrape of the project with these UUIDs. Looks for it in Keystone first if it is not known."""
    client_address: ClientAddress = field(default_factory=ClientAddress)
    subscriptions: Subscriptions | None = None
    """Who does not want which mails."""
    mail_settings: MailSettings | None = None
    """Which mails users get; None: users get none."""
    mounts: tuple[Mount, ...] = ()
    """What is served beside the API: the dashboard."""
