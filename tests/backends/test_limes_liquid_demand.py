"""`limes liquid` tells capacitors the demand that it is told, in process."""

from typing import Any

from falcon import testing

from limes.app.liquid.app import RULES, create_app
from limes.app.liquid.handlers import LiquidCollaborators
from limes.auth.context import Identity
from limes.auth.policy import Policy
from limes.backends import (
    AZCapacity,
    AZDemand,
    CapacityBackend,
    CapacityReport,
    ResourceDef,
    ResourceDemand,
    ServiceDef,
)
from limes.kernel.system import SystemClock, SystemIds
from tests.backends.conftest import AZS, load_quota

OBJECTS = ("storage", "objects")


class Everybody:
    """Takes everybody for a quota manager."""

    def authenticate(self, environ: Any) -> Identity:
        return Identity("u", roles=("service",))

    def challenge(self) -> None:
        return None


class Curious(CapacityBackend):
    """Has as many objects in the first AZ as are demanded there."""

    def resources(self) -> list[Any]:
        return [OBJECTS]

    def needs_demand(self) -> list[Any]:
        return [OBJECTS]

    def report_capacity(self) -> CapacityReport:
        return self.report_capacity_for({})

    def report_capacity_for(self, demand: dict[Any, Any]) -> CapacityReport:
        found = demand.get(OBJECTS, ResourceDemand()).per_az.get(AZS[0], AZDemand())
        return CapacityReport({"storage": {"objects": {AZS[0]: AZCapacity(found.total)}}})


def test_demand_goes_on_to_the_plugin() -> None:
    collaborators = LiquidCollaborators(
        service=ServiceDef("storage", "storage", {"objects": ResourceDef("objects", az_aware=True)}),
        backend=load_quota("static", {"area": "x", "resources": {"objects": {"usage": 0}}}).quota["compute"],
        capacity={"curious": Curious()},
        capacity_of=frozenset({"objects"}),
        needs_demand=frozenset({"objects"}),
        authenticator=Everybody(),
        policy=Policy(RULES, None),
        clock=SystemClock(),
        ids=SystemIds(),
    )
    client = testing.TestClient(create_app(collaborators))
    assert client.simulate_get("/v1/info").json["resources"]["objects"]["needsResourceDemand"] is True
    demand = {"usage": 5, "unusedCommitments": 6, "pendingCommitments": 7}
    body = {"allAZs": list(AZS), "demandByResource": {"objects": {"overcommitFactor": 2, "perAZ": {AZS[0]: demand}}}}
    answer = client.simulate_post("/v1/report-capacity", json=body).json
    assert answer["resources"]["objects"]["perAZ"] == {AZS[0]: {"capacity": 18}, AZS[1]: {"capacity": 0}}
    without = client.simulate_post("/v1/report-capacity", json={"allAZs": list(AZS)}).json
    assert without["resources"]["objects"]["perAZ"] == {az: {"capacity": 0} for az in AZS}
