"""Maps in pieces are dictionaries of which a changed copy is cheap."""

from hypothesis import given
from hypothesis import strategies as st

from limes.placement.search.model import Cloud, Inventory, Provider, TraitList
from limes.placement.search.pieces import IdMap, TextMap

_IDS = st.integers(min_value=1, max_value=2000)
_CHANGES = st.lists(st.tuples(st.dictionaries(_IDS, st.integers(), max_size=30), st.lists(_IDS, max_size=30)))


@given(_CHANGES)
def test_they_are_what_a_dictionary_would_be(changes: list[tuple[dict[int, int], list[int]]]) -> None:
    by_id, by_text, expected = IdMap[int](), TextMap[int](), dict[int, int]()
    for changed, gone in changes:
        before = by_id, dict(expected)
        by_id = by_id.replace(changed, gone)
        by_text = by_text.replace({str(key): value for key, value in changed.items()}, map(str, gone))
        expected = {key: value for key, value in expected.items() if key not in gone} | changed
        assert list(by_id) == sorted(expected)
        assert list(by_id.values()) == [expected[key] for key in sorted(expected)]
        assert {key: by_text[key] for key in by_text} == {str(key): value for key, value in expected.items()}
        assert len(by_id) == len(by_text) == len(expected)
        assert all(key in by_id and by_id.get(key) == by_id[key] == value for key, value in expected.items())
        assert all(key not in by_id and by_id.get(key) is None for key in gone if key not in expected)
        assert {key: before[0][key] for key in before[0]} == before[1]  # the older map stays as it was


def _provider(key: int, stamp: int = 0, aggregate: str = "") -> Provider:
    traits = TraitList.of("MISC_SHARES_VIA_AGGREGATE") if aggregate else TraitList()
    inventories = {"VCPU": Inventory(8, stamp, 1, 8, 1)}
    return Provider(
        key, f"uuid-{key}", f"name-{key}", key, None, 0, inventories, traits, frozenset(filter(None, [aggregate]))
    )


def test_a_changed_cloud_shares_nearly_everything_with_the_one_before() -> None:
    cloud = Cloud().replace([_provider(key) for key in range(1, 20_001)])
    other = cloud.replace([_provider(9_000, stamp=1)])
    for before, after in ((cloud.by_id._pieces, other.by_id._pieces), (cloud.trees._pieces, other.trees._pieces)):
        copied = [number for number in before if before[number] is not after[number]]
        assert len(copied) == 1
        assert len(before[copied[0]]) < 300
    assert all(piece is other.ids._pieces[number] for number, piece in cloud.ids._pieces.items())
    assert other.by_id[9_000].inventories["VCPU"].used == 1
    assert cloud.by_id[9_000].inventories["VCPU"].used == 0


def test_sharing_providers_are_known_without_a_look_at_all_trees() -> None:
    cloud = Cloud().replace([_provider(key) for key in range(1, 100)])
    shared = cloud.replace([_provider(50, aggregate="a"), _provider(20, aggregate="a"), _provider(30, aggregate="b")])
    assert {key: [p.id for p in providers] for key, providers in shared.sharing.items()} == {"a": [20, 50], "b": [30]}
    fewer = shared.replace([_provider(50)], gone=[30])
    assert {key: [p.id for p in providers] for key, providers in fewer.sharing.items()} == {"a": [20]}
    assert fewer.replace(gone=[20]).sharing == {}
    assert {key: len(providers) for key, providers in shared.sharing.items()} == {"a": 2, "b": 1}
