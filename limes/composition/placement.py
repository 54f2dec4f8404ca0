"""The Placement API's collaborators."""

from limes.composition.common import open_checked_placement_engine
from limes.composition.identity import client_address, open_authenticator, open_cloud, placement_policy, refuse_exposure
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.index import ProviderIndex
from limes.placement.startup import prepare
from limes.settings import Settings
from limes.system import SystemClock, SystemIds


def build_placement(settings: Settings) -> PlacementCollaborators:
    """Opens everything that the API works with, and brings the standard names up to date."""
    refuse_exposure(settings, "placement")
    engine = open_checked_placement_engine(settings, "limes-placement")
    clock = SystemClock()
    prepare(engine, clock)
    return PlacementCollaborators(
        client_address=client_address(settings),
        engine=engine,
        index=ProviderIndex(engine, clock),
        authenticator=open_authenticator(
            settings, open_cloud(settings), threads=settings.placement.threads, allow_noauth=True
        ),
        policy=placement_policy(settings),
        clock=clock,
        ids=SystemIds(),
        settings=settings.placement,
    )
