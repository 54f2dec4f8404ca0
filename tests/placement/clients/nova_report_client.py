"""Drives nova's own report client against a server: `nova_report_client.py URL`, in the `real` environment.

Prints a JSON object of what each call answered.
"""

import json
import sys
import uuid
from typing import Any

from keystoneauth1 import adapter, session, token_endpoint
from nova import context, objects
from nova.conf import CONF
from nova.scheduler import utils
from nova.scheduler.client import report

NODE = "60000000-0000-4000-8000-00000000000a"
CHILD = "nova-node-numa0"
SERVER = "70000000-0000-4000-8000-00000000000a"
OTHER = "70000000-0000-4000-8000-00000000000b"


def inventory(total: int) -> dict[str, Any]:
    """One inventory, as a compute driver reports it."""
    return {"total": total, "reserved": 0, "min_unit": 1, "max_unit": total, "step_size": 1, "allocation_ratio": 1.0}


def main(url: str) -> dict[str, Any]:
    """What a compute node and a scheduler do with it."""
    CONF([], project="nova", default_config_files=[])
    objects.register_all()
    plain = adapter.Adapter(
        session.Session(auth=token_endpoint.Token(url, "admin")),
        service_type="placement",
        endpoint_override=url,
        raise_exc=False,
    )
    client = report.SchedulerReportClient(adapter=plain)
    who = context.RequestContext("user", "project", is_admin=True)
    found: dict[str, Any] = {}
    tree = client.get_provider_tree_and_ensure_root(who, NODE, name="nova-node")
    tree.update_inventory(NODE, {"MEMORY_MB": inventory(4096), "DISK_GB": inventory(100), "CUSTOM_NOVA": inventory(3)})
    child = str(uuid.UUID(int=uuid.UUID(NODE).int + 1))
    tree.new_child(CHILD, NODE, uuid=child)
    tree.update_inventory(child, {"VCPU": inventory(8)})
    tree.update_traits(child, ["CUSTOM_NOVA_TRAIT", "HW_NUMA_ROOT"])
    tree.update_aggregates(NODE, ["80000000-0000-4000-8000-00000000000a"])
    client.update_from_provider_tree(who, tree)
    found["traits"] = sorted(client.get_provider_traits(who, child).traits)
    flavor = objects.Flavor(vcpus=2, memory_mb=512, root_gb=5, ephemeral_gb=0, swap=0, extra_specs={})
    spec = objects.RequestSpec(flavor=flavor, image=objects.ImageMeta(properties=objects.ImageMetaProps()))
    spec.requested_resources = []
    spec.project_id, spec.user_id, spec.is_bfv, spec.limits = "project", "user", False, None
    spec.scheduler_hints, spec.request_level_params = {}, objects.RequestLevelParams()
    spec.instance_uuid, spec.force_hosts, spec.force_nodes, spec.requested_destination = SERVER, None, None, None
    request = utils.ResourceRequest.from_request_spec(spec)
    candidates, summaries, version = client.get_allocation_candidates(who, request)
    mine = [one for one in candidates if NODE in one["allocations"]]
    found["candidates"] = [len(mine), version, sorted(name for name in summaries if name in (NODE, child))]
    found["claimed"] = client.claim_resources(who, SERVER, mine[0], "project", "user", version)
    big = {"allocations": {child: {"resources": {"VCPU": 99}}}}
    found["too big"] = client.claim_resources(who, OTHER, big, "project", "user", version)
    allocations = client.get_allocs_for_consumer(who, SERVER)
    found["allocations"] = {key: one["resources"] for key, one in sorted(allocations["allocations"].items())}
    found["usage"] = client.get_usages_counts_for_quota(who, "project", user_id="user")
    found["limits"] = client.get_usages_counts_for_limits(who, "project")
    found["deleted"] = client.delete_allocation_for_instance(who, SERVER, force=True)
    tree = client.get_provider_tree_and_ensure_root(who, NODE, name="nova-node")
    tree.remove(child)
    client.update_from_provider_tree(who, tree)
    found["left"] = tree.get_provider_uuids() == [NODE]
    found["gone"] = plain.delete(f"/resource_providers/{NODE}").status_code
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
