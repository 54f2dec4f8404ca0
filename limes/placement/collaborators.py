"""What the Placement API works with. `limes.composition` builds it from the configuration, tests as they need."""

from dataclasses import dataclass, field

from limes.auth.context import Authenticator
from limes.db.engine import Engine
from limes.placement.index import ProviderIndex
from limes.placement.policy import PlacementPolicy
from limes.placement.search.memory import AnswerMemory
from limes.settings.placement import PlacementSettings
from limes.system import Clock, IdSource
from limes.web.middleware import ClientAddress


@dataclass(frozen=True, slots=True)
class PlacementCollaborators:
    """Everything that handlers may use."""

    engine: Engine
    index: ProviderIndex
    authenticator: Authenticator
    policy: PlacementPolicy
    clock: Clock
    ids: IdSource
    settings: PlacementSettings
    client_address: ClientAddress = field(default_factory=ClientAddress)
    answers: AnswerMemory = field(default_factory=AnswerMemory)
