"""The fixtures that the YAML files of the upstream suite name: for each the group, the profile, and what it creates."""

from collections.abc import Callable

from tests.placement.conformance.builder import Builder, new_uuid


def base(api: Builder) -> None:
    """Variables that the in-process fixtures always set."""
    for name in (
        "RP_UUID",
        "RP_NAME",
        "RP_UUID1",
        "RP_NAME1",
        "RP_UUID2",
        "RP_NAME2",
        "PROJECT_ID",
        "ADMIN_PROJECT_ID",
        "SERVICE_PROJECT_ID",
        "USER_ID",
        "PROJECT_ID_ALT",
        "USER_ID_ALT",
        "INSTANCE_UUID",
        "MIGRATION_UUID",
        "CONSUMER_UUID",
        "PARENT_PROVIDER_UUID",
        "ALT_PARENT_PROVIDER_UUID",
    ):
        api.env[name] = new_uuid()
    for suffix in ("", "1", "2"):
        api.env["CUSTOM_RES_CLASS" + suffix] = "CUSTOM_IRON_NFV" + suffix


def allocation_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    e = api.env
    e["ALT_USER_ID"] = new_uuid()
    rp = api.provider(e["RP_NAME"], uuid=e["RP_UUID"])
    api.inventory(rp, "DISK_GB", 2048, step_size=10, min_unit=10, max_unit=1000)
    api.inventory(rp, "VCPU", 10, max_unit=10)
    e["CONSUMER_0"] = api.allocation(rp, {"DISK_GB": 1000}, e["PROJECT_ID"], e["USER_ID"])
    e["CONSUMER_ID"] = api.allocation(rp, {"VCPU": 6}, e["PROJECT_ID"], e["USER_ID"])
    e["ALT_CONSUMER_ID"] = api.allocation(rp, {"DISK_GB": 20, "VCPU": 1}, e["PROJECT_ID"], e["ALT_USER_ID"])
    e["ALT_RP_UUID"] = new_uuid()
    e["ALT_RP_NAME"] = new_uuid()


def shared_storage_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    agg = api.env["AGG_UUID"] = new_uuid()
    cn = {}
    for i in (1, 2):
        cn[i] = api.provider(f"cn{i}", agg, env=f"CN{i}_UUID")
    ss = [api.provider(n, agg, env=f"{n.upper()}_UUID") for n in ("ss", "ss2")]
    numa = {}
    for i in (1, 2):
        for j in (1, 2):
            numa[i, j] = api.provider(f"numa{i}_{j}", parent=cn[i], env=f"NUMA{i}_{j}_UUID")
    pfs = [api.provider(f"pf{ij[0]}_{ij[1]}", parent=numa[ij], env=f"PF{ij[0]}_{ij[1]}_UUID") for ij in numa]
    for i in (1, 2):
        api.inventory(cn[i], "VCPU", 24, allocation_ratio=16.0)
        api.inventory(cn[i], "MEMORY_MB", 128 * 1024, allocation_ratio=1.5)
    api.traits(cn[1], "HW_CPU_X86_SSE", "HW_CPU_X86_SSE2")
    api.inventory(cn[2], "DISK_GB", 2000, reserved=100)
    for s in ss:
        api.inventory(s, "DISK_GB", 2000, reserved=100)
        api.traits(s, "MISC_SHARES_VIA_AGGREGATE")
    for pf in pfs:
        api.inventory(pf, "SRIOV_NET_VF", 8)


def numa_aggregate_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    agg = {}
    for x in "ABC":
        agg[x] = api.env[f"AGG{x}_UUID"] = new_uuid()
    cn1 = api.provider("cn1", agg["A"], env="CN1_UUID")
    cn2 = api.provider("cn2", agg["A"], agg["B"], env="CN2_UUID")
    ss = [api.provider("ss1", agg["A"], env="SS1_UUID"), api.provider("ss2", agg["C"], env="SS2_UUID")]
    numas = [
        api.provider("numa1_1", agg["C"], parent=cn1, env="NUMA1_1_UUID"),
        api.provider("numa1_2", parent=cn1, env="NUMA1_2_UUID"),
        api.provider("numa2_1", parent=cn2, env="NUMA2_1_UUID"),
        api.provider("numa2_2", parent=cn2, env="NUMA2_2_UUID"),
    ]
    for n in numas:
        api.inventory(n, "VCPU", 24, allocation_ratio=16.0)
    for s in ss:
        api.inventory(s, "DISK_GB", 2000, reserved=100)
        api.traits(s, "MISC_SHARES_VIA_AGGREGATE")


def numa_network_fixture(api: Builder, cn1: str | None = None, cn2: str | None = None) -> None:
    """As the upstream fixture of that name."""
    agg = api.env["AGGA_UUID"] = new_uuid()
    who = ("numafx-project", "numafx-user")
    ss1 = api.provider("ss1", agg, env="SS1_UUID")
    api.traits(ss1, "MISC_SHARES_VIA_AGGREGATE")
    api.inventory(ss1, "DISK_GB", 2000)

    cn1 = cn1 or api.provider("cn1")
    api.env["CN1_UUID"] = cn1
    api.aggregates(cn1, agg)
    api.traits(cn1, "COMPUTE_VOLUME_MULTI_ATTACH")
    numas = []
    for i, extra in ((0, ()), (1, ("CUSTOM_FOO",))):
        numas.append(api.provider(f"numa{i}", parent=cn1, env=f"NUMA{i}_UUID"))
        api.traits(numas[i], "HW_NUMA_ROOT", *extra)
        api.inventory(numas[i], "VCPU", 4)
    api.inventory(numas[0], "MEMORY_MB", 2048, min_unit=512, step_size=256)
    api.inventory(numas[1], "MEMORY_MB", 2048, min_unit=256, max_unit=1024)
    api.allocation(numas[0], {"VCPU": 2}, *who)
    api.inventory(api.provider("fpga0", parent=numas[0], env="FPGA0_UUID"), "FPGA", 1)
    api.inventory(api.provider("pgpu0", parent=numas[0], env="PGPU0_UUID"), "VGPU", 8)
    for i in (0, 1):
        api.inventory(api.provider(f"fpga1_{i}", parent=numas[1], env=f"FPGA1_{i}_UUID"), "FPGA", 1)
    agent = api.provider("sriov_agent", parent=cn1, env="SRIOV_AGENT_UUID")
    api.traits(agent, "CUSTOM_VNIC_TYPE_DIRECT")
    for i in (1, 2):
        dev = api.provider(f"esn{i}", parent=agent, env=f"ESN{i}_UUID")
        api.traits(dev, f"CUSTOM_PHYSNET{i}")
        api.inventory(dev, "NET_BW_EGR_KILOBIT_PER_SEC", 10000 * i)
    agent = api.provider("ovs_agent", parent=cn1, env="OVS_AGENT_UUID")
    api.traits(agent, "CUSTOM_VNIC_TYPE_NORMAL")
    dev = api.provider("br_int", parent=agent, env="BR_INT_UUID")
    api.traits(dev, "CUSTOM_PHYSNET0")
    api.inventory(dev, "NET_BW_EGR_KILOBIT_PER_SEC", 1000)

    cn2 = cn2 or api.provider("cn2")
    api.env["CN2_UUID"] = cn2
    api.aggregates(cn2, agg)
    api.inventory(cn2, "VCPU", 8)
    api.allocation(cn2, {"VCPU": 3}, *who)
    api.inventory(cn2, "MEMORY_MB", 2048, min_unit=1024, step_size=128)
    api.inventory(cn2, "DISK_GB", 1000)
    api.traits(cn2, "CUSTOM_FOO")
    nics = {}
    for i in (1, 2, 3):
        nics[i] = api.provider(f"nic{i}", parent=cn2, env=f"NIC{i}_UUID")
        api.traits(nics[i], "CUSTOM_HW_NIC_ROOT")
    for nic, pf, net, vfs in (
        (1, 1, 1, 4),
        (1, 2, 2, 4),
        (2, 1, 1, 2),
        (2, 2, 2, 2),
        (2, 3, 1, 2),
        (2, 4, 2, 2),
        (3, 1, 1, 8),
    ):
        dev = api.provider(f"pf{nic}_{pf}", parent=nics[nic], env=f"PF{nic}_{pf}_UUID")
        api.traits(dev, f"CUSTOM_PHYSNET{net}")
        api.inventory(dev, "CUSTOM_VF", vfs)


def deep_numa_network_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    gp1 = api.provider("gp1")
    p1 = api.provider("p1", parent=gp1)
    p2 = api.provider("p2", parent=gp1)
    numa_network_fixture(api, api.provider("cn1", parent=p1), api.provider("cn2", parent=p2))


def non_shared_storage_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    for x in "ABC":
        api.env[f"AGG{x}_UUID"] = new_uuid()
    for i in (1, 2, 3):
        cn = api.provider(f"cn{i}", env=f"CN{i}_UUID")
        api.inventory(cn, "VCPU", 24)
        api.inventory(cn, "MEMORY_MB", 128 * 1024)
        api.inventory(cn, "DISK_GB", 2000)


def granular_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    api.custom_class("CUSTOM_NET_MBPS")
    agg = {}
    for x in "ABC":
        agg[x] = api.env["AGG" + x] = new_uuid()
    table = (
        (
            "cn_left",
            "A",
            (
                ("VCPU", 8),
                ("MEMORY_MB", 4096),
                ("DISK_GB", 500),
                ("VGPU", 8),
                ("SRIOV_NET_VF", 8),
                ("CUSTOM_NET_MBPS", 4000),
            ),
            ("HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "HW_GPU_API_DXVA", "HW_NIC_DCB_PFC", "CUSTOM_FOO"),
        ),
        (
            "cn_middle",
            "AB",
            (("VCPU", 8), ("MEMORY_MB", 4096), ("SRIOV_NET_VF", 8), ("CUSTOM_NET_MBPS", 4000)),
            ("HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "HW_CPU_X86_SSE", "HW_NIC_ACCEL_TLS"),
        ),
        (
            "cn_right",
            "BC",
            (("VCPU", 8), ("MEMORY_MB", 4096), ("DISK_GB", 500), ("VGPU", 8, {"max_unit": 2})),
            ("HW_CPU_X86_MMX", "HW_GPU_API_DXVA", "CUSTOM_DISK_SSD"),
        ),
        ("shr_disk_1", "A", (("DISK_GB", 1000),), ("MISC_SHARES_VIA_AGGREGATE", "CUSTOM_DISK_SSD")),
        ("shr_disk_2", "AB", (("DISK_GB", 1000),), ("MISC_SHARES_VIA_AGGREGATE",)),
        ("shr_net", "C", (("SRIOV_NET_VF", 16), ("CUSTOM_NET_MBPS", 40000)), ("MISC_SHARES_VIA_AGGREGATE",)),
    )
    for name, aggs, inventories, traits in table:
        rp = api.provider(name, *[agg[x] for x in aggs], env=name.upper())
        for inv in inventories:
            api.inventory(rp, inv[0], inv[1], **(inv[2] if inv[2:] else {}))
        api.traits(rp, *traits)


def neutron_qos_multi_segment_fixture(api: Builder) -> None:
    """As the upstream fixture of that name."""
    normal = ("CUSTOM_VNIC_TYPE_NORMAL",)
    direct = ("CUSTOM_VNIC_TYPE_DIRECT", "CUSTOM_VNIC_TYPE_DIRECT_PHYSICAL", "CUSTOM_VNIC_TYPE_MACVTAP")
    one = (("OTHER",), ("MSN_S1",), ("MSN_S2",), ("MSN_S1", "MSN_S2"))
    for i, nets in enumerate(one):
        host = f"compute{i}"
        bridge_bw, pf_bw = (1000, 1000) if i == 3 else (5000, 10000)
        root = api.provider(host, env=host)
        api.inventory(root, "VCPU", 8)
        api.inventory(root, "MEMORY_MB", 4096)
        api.inventory(root, "DISK_GB", 500)
        ovs_name = host + ":Open vSwitch agent"
        ovs = api.provider(ovs_name, parent=root, env=host + ":ovs_agent")
        api.inventory(ovs, "NET_PACKET_RATE_KILOPACKET_PER_SEC", 1000)
        api.traits(ovs, *normal)
        for n, net in enumerate(nets):
            suffix = "" if n == 0 else str(n + 1)
            dev = api.provider(f"{ovs_name}:br-ex{suffix}", parent=ovs, env=f"{host}:br_ex{suffix}")
            for rc in ("NET_BW_EGR_KILOBIT_PER_SEC", "NET_BW_IGR_KILOBIT_PER_SEC"):
                api.inventory(dev, rc, bridge_bw)
            api.traits(dev, *normal, "CUSTOM_PHYSNET_" + net)
        nic_name = host + ":NIC Switch agent"
        nic = api.provider(nic_name, parent=root, env=host + ":sriov_agent")
        api.traits(nic, *direct)
        for n, net in enumerate(nets):
            dev = api.provider(f"{nic_name}:enp129s0f{n}", parent=nic, env=f"{host}:pf{n}")
            for rc in ("NET_BW_EGR_KILOBIT_PER_SEC", "NET_BW_IGR_KILOBIT_PER_SEC"):
                api.inventory(dev, rc, pf_bw)
            api.traits(dev, *direct, "CUSTOM_PHYSNET_" + net)


def nothing(api: Builder) -> None:
    """Nothing is there at the start."""


# fixture name in the YAML -> (group, profile, what to create)
FIXTURES: dict[str, tuple[str, str, Callable[[Builder], None]]] = {
    "APIFixture": ("core", "core", nothing),
    "AllocationFixture": ("core", "core", allocation_fixture),
    "SharedStorageFixture": ("core", "core", shared_storage_fixture),
    "NUMAAggregateFixture": ("core", "core", numa_aggregate_fixture),
    "NUMANetworkFixture": ("core", "core", numa_network_fixture),
    "DeepNUMANetworkFixture": ("core", "core", deep_numa_network_fixture),
    "NonSharedStorageFixture": ("core", "core", non_shared_storage_fixture),
    "GranularFixture": ("core", "core", granular_fixture),
    "NeutronQoSMultiSegmentFixture": ("core", "core", neutron_qos_multi_segment_fixture),
    "OpenPolicyFixture": ("policy", "open-policy", nothing),
    "CORSFixture": ("cors", "cors", nothing),
    "LegacyRBACPolicyFixture": ("rbac", "legacy-rbac", nothing),
    "SecureRBACPolicyFixture": ("rbac", "secure-rbac", nothing),
}
