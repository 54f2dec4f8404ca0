"""openstacksdk and osc-placement from request to use, with any login: `allocation_calls.py JSON`, in the `real` environment.

The JSON object has `sdk` (arguments of `openstack.connection.Connection`) and `osc` (global options of `openstack`).
Prints a JSON object of what each call answered.
"""

import contextlib
import io
import json
import sys
from typing import Any

import openstack
from openstack import exceptions

HOST, NUMA = "90000000-0000-4000-8000-00000000000a", "90000000-0000-4000-8000-00000000000b"
SERVER, MOVE = "91000000-0000-4000-8000-00000000000a", "91000000-0000-4000-8000-00000000000b"
OTHER = "91000000-0000-4000-8000-00000000000c"
PROJECT = "calls-project"


def main(login: dict[str, Any]) -> dict[str, Any]:
    """A cloud of one host, used by both clients, and cleared away again."""
    api = openstack.connection.Connection(
        placement_api_version="1", placement_default_microversion="1.39", **login["sdk"]
    ).placement
    found: dict[str, Any] = {}
    host = api.create_resource_provider(name="calls-host", uuid=HOST)
    numa = api.create_resource_provider(name="calls-numa", uuid=NUMA, parent_provider_id=HOST)
    found["root"] = [numa.parent_provider_id, numa.root_provider_id]
    memory = {"MEMORY_MB": {"total": 1024, "reserved": 24}, "DISK_GB": {"total": 10}}
    host = api.set_resource_provider_inventories(host, memory, resource_provider_generation=0)
    found["generation"] = host.generation
    api.set_resource_provider_inventories(numa, {"VCPU": {"total": 4}}, resource_provider_generation=0)
    found["stale"] = _error(lambda: api.set_resource_provider_inventories(host, {}, resource_provider_generation=0))
    found["trait"] = _trait(api)
    found["candidates"] = _candidates(api)
    api.create_allocations({SERVER: _claim(256, 2), MOVE: _claim(128, 1, "MIGRATION")})
    found["allocation"] = _plain(api.get_allocation(SERVER))
    found["updated"] = _plain(api.update_allocation(SERVER, **_claim(512, 1, generation=1)))
    found["too much"] = _error(lambda: api.update_allocation(SERVER, **_claim(512, 9, generation=2)))
    found["too old"] = _error(lambda: api.update_allocation(SERVER, **_claim(512, 1, generation=1)))
    found["of the host"] = sorted(
        [one.id, one.resources, one.consumer_generation] for one in api.resource_provider_allocations(HOST)
    )
    found["used"] = api.fetch_resource_provider_usages(HOST).usages
    found["usages"] = sorted(repr(one.to_dict(computed=False)) for one in api.usages(PROJECT))
    found["commands"] = [_command(login["osc"], command) for command in COMMANDS]
    api.delete_allocation(SERVER)
    api.delete_allocation(MOVE)
    found["again"] = _error(lambda: api.delete_allocation(MOVE, ignore_missing=False))
    api.delete_resource_provider_inventories(numa)
    for uuid in (NUMA, HOST):
        api.delete_resource_provider(uuid)
    found["left"] = [one.id for one in api.resource_providers(in_tree=HOST)]
    return found


VERSIONS = ["", "--os-placement-api-version 1", "--os-placement-api-version 1.37", "--os-placement-api-version 1.39"]

COMMANDS = [
    *(f"{version} resource provider show {HOST}" for version in VERSIONS),
    *(f"{version} resource usage show {PROJECT}" for version in VERSIONS),
    *(f"{version} resource provider allocation show {SERVER}" for version in VERSIONS),
    f"--os-placement-api-version 1.39 resource provider allocation set {OTHER} --allocation rp={HOST},DISK_GB=11"
    f" --project-id {PROJECT} --user-id u --consumer-type INSTANCE",
    f"--os-placement-api-version 1.39 resource provider delete {HOST}",
    "--os-placement-api-version 1.39 allocation candidate list --resource VCPU=1 --forbidden CUSTOM_NO_SUCH_TRAIT",
]


def _trait(api: Any) -> list[Any]:
    traits = api.get_resource_provider_trait(NUMA)
    found = [traits.traits, api.set_resource_provider_trait(traits, traits=["HW_NUMA_ROOT", "HW_CPU_X86_AVX"]).traits]
    found.append(sorted(api.get_resource_provider_trait(NUMA).traits))
    api.delete_resource_provider_trait(NUMA)
    found.append(api.get_resource_provider_trait(NUMA).traits)
    return [*found, api.get_trait("HW_NUMA_ROOT").name, _error(lambda: api.get_trait("CUSTOM_NO_SUCH_TRAIT"))]


def _candidates(api: Any) -> list[Any]:
    query = {"resources": "MEMORY_MB:256,VCPU:2", "in_tree": HOST}
    return [[one.allocations, one.provider_summaries] for one in api.allocation_candidates(**query)]


def _claim(memory: int, cores: int, kind: str = "INSTANCE", generation: int | None = None) -> dict[str, Any]:
    return {
        "allocations": {HOST: {"resources": {"MEMORY_MB": memory}}, NUMA: {"resources": {"VCPU": cores}}},
        "project_id": PROJECT,
        "user_id": "calls-user",
        "consumer_generation": generation,
        "consumer_type": kind,
    }


def _plain(one: Any) -> dict[str, Any]:
    return {key: one[key] for key in ("allocations", "project_id", "user_id", "consumer_generation", "consumer_type")}


def _error(call: Any) -> list[Any]:
    try:
        call()
    except exceptions.HttpException as error:
        return [type(error).__name__, error.status_code]
    return ["no error"]


def _command(login: list[str], command: str) -> tuple[str, int, str]:
    """One command of `openstack` in this process, as its exit status and what it prints."""
    from openstackclient import shell
    from osc_lib.clientmanager import ClientManager

    cache = vars(ClientManager).get("placement")
    if cache is not None:
        cache._handle = None  # the client of the command before, with its microversion
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        form = [] if " delete " in command else ["-f", "json"]
        try:
            status = shell.OpenStackShell().run([*login, *command.split(), *form])
        except SystemExit as stop:
            status = int(stop.code or 0)
    return command, status, out.getvalue()


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
