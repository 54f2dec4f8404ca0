"""Small trees and the candidates that are expected of them, in plain sight."""

import pytest

from limes.placement.search.matching import RequestTest
from limes.placement.search.model import Cloud
from limes.placement.search.request import parse
from limes.placement.search.values import parse_pairs
from tests.placement.search.clouds import cloud_of, find, node, providers_of, spelled, with_uuids

SHARES = "MISC_SHARES_VIA_AGGREGATE"


def expect(cloud: Cloud, query: str, *candidates: str, minor: int = 39) -> None:
    assert sorted(spelled(find(cloud, query, minor))) == sorted(candidates)


class TestOneProvider:
    cloud = cloud_of(
        node("free", VCPU=8, MEMORY_MB=64, traits=["HW_SSE"], aggregates=["a", "b"]),
        node("half", VCPU=(8, 4), MEMORY_MB=64, traits=["HW_SSE", "HW_AVX"], aggregates=["b"]),
        node("full", VCPU=(8, 8), MEMORY_MB=64),
        node("over", VCPU=(8, 9), MEMORY_MB=64),
        node("memory", MEMORY_MB=64),
    )

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("resources=VCPU:1", "free half"),
            ("resources=VCPU:4", "free half"),
            ("resources=VCPU:5", "free"),
            ("resources=VCPU:8", "free"),
            ("resources=VCPU:9", ""),
            ("resources=VCPU:1&required=HW_SSE", "free half"),
            ("resources=VCPU:1&required=HW_SSE,!HW_AVX", "free"),
            ("resources=VCPU:1&required=in:HW_AVX,CUSTOM_A", "half"),
            ("resources=VCPU:1&required=in:HW_AVX,HW_SSE&required=!HW_AVX", "free"),
            ("resources=VCPU:1&member_of=@a", "free"),
            ("resources=VCPU:1&member_of=@b", "free half"),
            ("resources=VCPU:1&member_of=in:@a,@b", "free half"),
            ("resources=VCPU:1&member_of=@a&member_of=@b", "free"),
            ("resources=VCPU:1&member_of=!@a", "half"),
            ("resources=VCPU:1&member_of=!in:@a,@b", ""),
            ("resources=VCPU:1&member_of=@nothing", ""),
            ("resources=VCPU:1&in_tree=@half", "half"),
            ("resources=VCPU:1&in_tree=@full", ""),
            ("resources=VCPU:1&in_tree=@nothing", ""),
            ("resources=VCPU:1&root_required=HW_AVX", "half"),
            ("resources=VCPU:1&root_required=!HW_AVX", "free"),
            ("resources=VCPU:1&root_required=HW_SSE,!HW_AVX", "free"),
        ],
    )
    def test_which_providers(self, query: str, names: str) -> None:
        expect(self.cloud, query, *(f"VCPU={name}" for name in names.split()))

    def test_several_classes(self) -> None:
        expect(self.cloud, "resources=VCPU:5,MEMORY_MB:64", "VCPU,MEMORY_MB=free")

    def test_groups_add_up_on_one_provider(self) -> None:
        query = "resources1=VCPU:{}&resources2=VCPU:{}&group_policy=none"
        expect(self.cloud, query.format(2, 2), "1=free 2=free", "1=half 2=half")
        expect(self.cloud, query.format(3, 2), "1=free 2=free")
        expect(self.cloud, query.format(5, 4))


class TestUnits:
    cloud = cloud_of(node("cn", VCPU={"total": 32, "min_unit": 4, "max_unit": 16, "step_size": 4}))

    @pytest.mark.parametrize(
        ("amount", "fits"), [(1, False), (2, False), (4, True), (6, False), (8, True), (16, True), (20, False)]
    )
    def test_shape_of_one_group(self, amount: int, fits: bool) -> None:
        expect(self.cloud, f"resources=VCPU:{amount}", *(["VCPU=cn"] if fits else []))

    def test_max_unit_bounds_the_sum_of_all_groups(self) -> None:
        query = "resources1=VCPU:{}&resources2=VCPU:8&group_policy=none"
        expect(self.cloud, query.format(8), "1=cn 2=cn")
        expect(self.cloud, query.format(12))


class TestTree:
    #      cn ------- (DISK 100)
    #     /  \
    #  numa0  numa1   (VCPU 4, MEMORY 16 each)
    #    |      |
    #   pf0    pf1    (VF 2; pf1 SSD)
    cloud = cloud_of(
        node("cn", DISK_GB=100, traits=["CUSTOM_A"], aggregates=["zone"]),
        node("numa0", "cn", VCPU=4, MEMORY_MB=16, traits=["HW_SSE"]),
        node("numa1", "cn", VCPU=4, MEMORY_MB=16, traits=["HW_AVX"], aggregates=["fast"]),
        node("pf0", "numa0", SRIOV_NET_VF=2),
        node("pf1", "numa1", SRIOV_NET_VF=2, traits=["HW_SSD"]),
    )

    def test_the_unsuffixed_group_spreads_over_the_tree(self) -> None:
        expect(
            self.cloud,
            "resources=VCPU:1,MEMORY_MB:1,DISK_GB:1",
            "VCPU,MEMORY_MB=numa0 DISK_GB=cn",
            "VCPU=numa0 MEMORY_MB=numa1 DISK_GB=cn",
            "VCPU=numa1 MEMORY_MB=numa0 DISK_GB=cn",
            "VCPU,MEMORY_MB=numa1 DISK_GB=cn",
        )

    def test_below_1_29_a_tree_gives_one_provider(self) -> None:
        expect(self.cloud, "resources=VCPU:1,DISK_GB:1", minor=28)
        expect(self.cloud, "resources=VCPU:1,MEMORY_MB:1", *(f"VCPU,MEMORY_MB=numa{n}" for n in (0, 1)), minor=28)

    def test_required_traits_are_gathered_from_the_providers_of_a_candidate(self) -> None:
        query = "resources=VCPU:1,MEMORY_MB:1&required={}"
        expect(self.cloud, query.format("HW_SSE,HW_AVX"), "VCPU=numa0 MEMORY_MB=numa1", "VCPU=numa1 MEMORY_MB=numa0")
        expect(self.cloud, query.format("HW_SSE,!HW_AVX"), "VCPU,MEMORY_MB=numa0")
        # cn has the trait but gives nothing
        expect(self.cloud, query.format("CUSTOM_A"))

    def test_aggregates_of_the_root_span_the_tree_for_the_unsuffixed_group_only(self) -> None:
        expect(self.cloud, "resources=VCPU:1&member_of=@zone", "VCPU=numa0", "VCPU=numa1")
        expect(self.cloud, "resources=VCPU:1&member_of=!@zone")
        expect(self.cloud, "resources1=VCPU:1&member_of1=@zone")
        expect(self.cloud, "resources1=VCPU:1&member_of1=@fast", "1=numa1")
        expect(self.cloud, "resources1=VCPU:1&member_of1=!@zone", "1=numa0", "1=numa1")

    def test_same_subtree(self) -> None:
        query = "resources1=VCPU:1&resources2=SRIOV_NET_VF:1&group_policy=none"
        crossed = [f"1=numa{n} 2=pf{m}" for n in (0, 1) for m in (0, 1)]
        expect(self.cloud, query, *crossed)
        expect(self.cloud, query + "&same_subtree=1,2", "1=numa0 2=pf0", "1=numa1 2=pf1")
        # siblings are not in one subtree, unless a group stands at their parent
        ports = "resources1=SRIOV_NET_VF:1&resources2=SRIOV_NET_VF:2&group_policy=isolate"
        expect(self.cloud, ports, "1=pf0 2=pf1", "1=pf1 2=pf0")
        expect(self.cloud, ports + "&same_subtree=1,2")
        expect(self.cloud, ports + "&required3=CUSTOM_A&same_subtree=1,2,3", "1=pf0 2=pf1 3=cn", "1=pf1 2=pf0 3=cn")

    def test_root_required(self) -> None:
        expect(self.cloud, "resources1=VCPU:1&root_required=CUSTOM_A", "1=numa0", "1=numa1")
        expect(self.cloud, "resources1=VCPU:1&root_required=HW_SSE")


class TestSharing:
    # cn1 and cn2 may use the disk of `ss`; cn2 has disk of its own; `far` is in no aggregate of it
    cloud = cloud_of(
        node("cn1", VCPU=4, aggregates=["rack"]),
        node("cn2", VCPU=4, DISK_GB=10, aggregates=["rack"]),
        node("ss", DISK_GB=1000, traits=[SHARES, "HW_SSD"], aggregates=["rack", "disks"]),
        node("far", VCPU=4, aggregates=["disks2"]),
        node("deep", aggregates=[]),
        node("numa", "deep", VCPU=2, aggregates=["disks"]),
    )

    def test_a_tree_uses_what_is_shared_with_any_member_of_it(self) -> None:
        expect(
            self.cloud,
            "resources=VCPU:1,DISK_GB:1",
            "VCPU=cn1 DISK_GB=ss",
            "VCPU,DISK_GB=cn2",
            "VCPU=cn2 DISK_GB=ss",
            "VCPU=numa DISK_GB=ss",
        )

    def test_sharing_works_below_1_29(self) -> None:
        expect(self.cloud, "resources=VCPU:4,DISK_GB:20", "VCPU=cn1 DISK_GB=ss", "VCPU=cn2 DISK_GB=ss", minor=10)

    def test_what_only_a_sharing_provider_serves_is_one_candidate(self) -> None:
        expect(self.cloud, "resources=DISK_GB:1", "DISK_GB=cn2", "DISK_GB=ss")
        expect(self.cloud, "resources1=DISK_GB:20", "1=ss")

    def test_groups(self) -> None:
        query = "resources=VCPU:4&resources1=DISK_GB:20"
        expect(self.cloud, query, "VCPU=cn1 1=ss", "VCPU=cn2 1=ss")
        expect(self.cloud, query + "&required1=HW_SSD", "VCPU=cn1 1=ss", "VCPU=cn2 1=ss")
        expect(self.cloud, query + "&required1=!HW_SSD")
        expect(self.cloud, query + "&in_tree1=@ss", "VCPU=cn1 1=ss", "VCPU=cn2 1=ss")

    def test_in_tree_drops_sharing_providers_outside_the_tree(self) -> None:
        expect(self.cloud, "resources=VCPU:1,DISK_GB:1&in_tree=@cn2", "VCPU,DISK_GB=cn2")
        expect(self.cloud, "resources=VCPU:1,DISK_GB:1&in_tree=@cn1")

    def test_aggregates_of_the_anchor_do_not_count_for_the_sharing_provider(self) -> None:
        cloud = cloud_of(
            node("cn", VCPU=4, aggregates=["rack", "zone"]),
            node("ss", DISK_GB=1000, traits=[SHARES], aggregates=["rack"]),
        )
        expect(cloud, "resources=VCPU:1,DISK_GB:1&member_of=@rack", "VCPU=cn DISK_GB=ss")
        expect(cloud, "resources=VCPU:1,DISK_GB:1&member_of=@zone")

    def test_root_required_looks_at_the_anchor(self) -> None:
        expect(
            self.cloud, "resources=VCPU:4,DISK_GB:20&root_required=!HW_SSD", *(f"VCPU=cn{n} DISK_GB=ss" for n in (1, 2))
        )


def test_the_largest_inventory_is_known_through_all_changes() -> None:
    cloud = cloud_of(node("cn", VCPU=4))
    expect(cloud, "resources=VCPU:5")
    expect(cloud, "resources=DISK_GB:1")
    [larger] = providers_of([node("cn", VCPU=8, DISK_GB=1)])
    grown = cloud.replace([larger])
    expect(grown, "resources=VCPU:5", "VCPU=cn")
    expect(grown, "resources=DISK_GB:1", "DISK_GB=cn")
    expect(cloud, "resources=VCPU:5")
    expect(grown.replace(gone=[larger.id]), "resources=VCPU:5")


class TestHowMany:
    hosts = [
        one
        for n in range(5)
        for one in (node(f"cn{n}"), *(node(f"gpu{n}{m}", f"cn{n}", CUSTOM_GPU=1) for m in range(4)))
    ]
    cloud = cloud_of(*hosts)
    two = "resources1=CUSTOM_GPU:1&resources2=CUSTOM_GPU:1&group_policy=none"

    def test_all_roots_have_their_turn(self) -> None:
        first = spelled(find(self.cloud, self.two + "&limit=5"))
        assert first == [f"1=gpu{n}0 2=gpu{n}1" for n in range(5)]
        assert len(find(self.cloud, self.two).candidates) == 5 * 4 * 3

    def test_the_order_is_the_same_each_time(self) -> None:
        everything = spelled(find(self.cloud, self.two))
        assert spelled(find(self.cloud, self.two)) == everything
        assert spelled(find(self.cloud, self.two + "&limit=17")) == everything[:17]
        assert len(set(everything)) == len(everything)

    def test_the_bound_on_generated_candidates(self) -> None:
        cut = find(self.cloud, self.two, max_candidates=7)
        assert len(cut.candidates) == 7
        assert not cut.complete
        assert find(self.cloud, self.two + "&limit=7", max_candidates=7).complete
        assert find(self.cloud, self.two).complete

    def test_wide_candidates_are_fewer_so_that_the_answer_is_bounded(self) -> None:
        cloud = cloud_of(node("cn"), *(node(f"g{m}", "cn", CUSTOM_GPU=20) for m in range(9)))
        for groups, expected in ((10, 100), (11, 90), (20, 50)):
            wanted = "&".join(f"resources{n}=CUSTOM_GPU:1" for n in range(groups)) + "&group_policy=none"
            wanted = wanted.replace("resources0=", "resources99=")
            found = find(cloud, wanted, max_candidates=100)
            assert (len(found.candidates), found.complete) == (expected, False)
            assert len(find(cloud, f"{wanted}&limit=7", max_candidates=100).candidates) == 7

    def test_more_groups_than_devices_is_seen_at_once(self) -> None:
        groups = "&".join(f"resources{n}=CUSTOM_GPU:1" for n in range(1, 6))
        for policy in ("none", "isolate"):
            found = find(self.cloud, f"{groups}&group_policy={policy}", max_candidates=100)
            assert (found.candidates, found.complete) == ([], True)

    def test_a_long_search_without_result_ends(self) -> None:
        # fourteen devices that hold seven each, and fourteen groups of four: each device takes one, which is found at
        # once; one group more cannot fit, which no count of the whole can tell
        cloud = cloud_of(node("cn"), *(node(f"g{m}", "cn", CUSTOM_GPU=7) for m in range(14)))
        groups = "&".join(f"resources{n}=CUSTOM_GPU:4" for n in range(1, 16))
        found = find(cloud, groups + "&group_policy=none", max_candidates=1000)
        assert (found.candidates, found.complete) == ([], False)

    def test_what_is_sifted_out_in_many_trees_does_not_end_the_search(self) -> None:
        hosts = []
        for n in range(60):
            hosts += [node(f"cn{n}"), node(f"l{n}", f"cn{n}", VCPU=1, CUSTOM_GPU=1), node(f"r{n}", f"cn{n}", VCPU=1)]
        query = "resources1=VCPU:1&resources2=CUSTOM_GPU:1&same_subtree=1,2&group_policy=none"
        found = find(cloud_of(*hosts), query, max_candidates=100)
        assert (len(found.candidates), found.complete) == (60, True)


def roots_searched(cloud: Cloud, query: str) -> list[str]:
    """The roots of the trees that a search looks at."""
    request = parse(parse_pairs(with_uuids(query)), 39, cloud)
    return [tree.root.name for tree in RequestTest(request, cloud).trees()]


@pytest.mark.parametrize(
    ("query", "roots"),
    [
        ("resources=VCPU:1", ["a", "b", "c"]),
        ("resources=CUSTOM_GPU:1", ["b"]),
        ("resources=VCPU:1&resources_X=CUSTOM_GPU:1", ["b"]),
        ("resources=VCPU:1,MEMORY_MB:1", []),
        ("resources=VCPU:1&member_of=@agg", ["a", "c"]),
        ("resources=VCPU:1&member_of=@other", ["c"]),
        ("resources=VCPU:1&resources_X=VCPU:1&member_of_X=@other&group_policy=none", ["c"]),
        ("resources=VCPU:1&member_of=@unknown", []),
        ("resources=VCPU:1&member_of=in:@agg,@other", ["a", "b", "c"]),
        ("resources=VCPU:1&member_of=!@agg", ["a", "b", "c"]),
    ],
)
def test_only_trees_that_have_the_classes_and_aggregates_are_searched(query: str, roots: list[str]) -> None:
    nodes = [
        node("a", VCPU=4, aggregates=["agg"]),
        node("b", VCPU=4),
        node("b1", "b", CUSTOM_GPU=1),
        node("c", VCPU=4),
        node("c1", "c", DISK_GB=9, aggregates=["agg", "other"]),
    ]
    assert roots_searched(cloud_of(*nodes), query) == roots
    # where providers are shared, other trees may have candidates as well
    shared = node("s", CUSTOM_GPU=1, MEMORY_MB=1, traits=[SHARES], aggregates=["agg"])
    assert roots_searched(cloud_of(*nodes, shared), query) == ["a", "b", "c", "s"]


def test_what_trees_have_in_common_follows_changes() -> None:
    cloud = cloud_of(node("a", VCPU=4, aggregates=["agg"]), node("b", CUSTOM_GPU=4), node("b1", "b", VCPU=4))
    moved = providers_of([node("a", CUSTOM_GPU=4), node("b"), node("b1", "b", VCPU=4, aggregates=["agg"])])
    after = cloud.replace(moved)
    assert roots_searched(after, "resources=CUSTOM_GPU:1") == ["a"]
    assert roots_searched(after, "resources=VCPU:1&member_of=@agg") == ["b"]
    gone = after.replace(gone=[3])
    assert roots_searched(gone, "resources=CUSTOM_GPU:1") == ["a"]
    assert "VCPU" not in gone.by_class
    assert len(gone.by_aggregate) == 0
    assert roots_searched(cloud, "resources=CUSTOM_GPU:1") == ["b"]
