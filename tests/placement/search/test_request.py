"""Query strings at each microversion: what is read, and what is refused in which words."""

from typing import Any

import pytest

from limes.placement.search.model import Cloud
from limes.placement.search.request import Bounds, CandidatesRequest, parse
from limes.placement.search.values import MAX_PARAMETERS, QueryError, normal_uuid, parse_pairs, parse_resources
from tests.placement.search.clouds import CLASSES, TRAITS

A = "5e08ea53-c4c6-448e-9334-ac4953de3cfa"
B = "5e08ea53-c4c6-448e-9334-ac4953de3cfb"
BAD_VALUE = "placement.query.bad_value"
MISSING = "placement.query.missing_value"
UNDEFINED = "placement.undefined_code"


def read(query: str, minor: int = 39, bounds: Bounds | None = None) -> CandidatesRequest:
    return parse(parse_pairs(query), minor, Cloud(dict.fromkeys(TRAITS), dict.fromkeys(CLASSES)), bounds or Bounds())


def groups(query: str, minor: int = 39) -> dict[Any, Any]:
    return {group.suffix: group for group in read(query, minor).groups}


REFUSED = [
    (39, "resources=", "parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: empty string."),
    (39, "resources=VCPU", "Got: VCPU."),
    (39, "resources=VCPU:1,", "Got: ."),
    (39, "resources=VCPU:1:2", "Got: VCPU:1:2."),
    (39, "resources=VCPU:a", "Requested resource VCPU expected positive integer amount. Got: a."),
    (39, "resources=VCPU:0", "Requested resource VCPU requires amount >= 1. Got: 0."),
    (39, "resources=NOPE:1", "Invalid resource class in resources parameter: No such resource class NOPE."),
    (17, "resources=VCPU:1&required=", "value of the form: HW_CPU_X86_VMX,CUSTOM_MAGIC. Got an empty trait in: "),
    (22, "resources=VCPU:1&required=,", "value of the form: HW_CPU_X86_VMX,!CUSTOM_MAGIC. Got an empty trait in: ,"),
    (21, "resources=VCPU:1&required=!HW_SSE", "value of the form: HW_CPU_X86_VMX,CUSTOM_MAGIC. Got: !HW_SSE"),
    (38, "resources=VCPU:1&required=in:HW_SSE", "only supported since microversion 1.39. Got: in:HW_SSE"),
    (39, "resources=VCPU:1&required=in:", "of the form: in:HW_CPU_X86_VMX,CUSTOM_MAGIC. Got an empty trait in: in:"),
    (39, "resources=VCPU:1&required=in:HW_SSE,!HW_AVX", "does not support forbidden traits. Got: in:HW_SSE,!HW_AVX"),
    (39, "resources=VCPU:1&required=NOPE,!NO,HW_SSE", "No such trait(s): NO, NOPE."),
    (39, "resources=VCPU:1&required=HW_SSE&required=!HW_SSE", "traits keys: required: (HW_SSE)"),
    (39, "resources=VCPU:1&required=in:HW_SSE,HW_AVX&required=!HW_SSE,!HW_AVX", "required: (HW_AVX, HW_SSE)"),
    (21, f"resources=VCPU:1&member_of={A}&member_of={B}", "Multiple member_of parameters are not supported"),
    (39, "resources=VCPU:1&member_of=", "Expected 'member_of' parameter to contain valid UUID(s). Got: "),
    (39, f"resources=VCPU:1&member_of=in:{A},xx", "Expected 'member_of' parameter to contain valid UUID(s). Got: xx"),
    (
        39,
        f"resources=VCPU:1&member_of={A},{B}",
        f"must be prefixed with the 'in:' or '!in:' keyword using the valid microversion. Got: {A},{B}",
    ),
    (
        31,
        f"resources=VCPU:1&member_of=!{A}",
        "Forbidden member_of parameters are not supported in the specified microversion",
    ),
    (39, "resources=VCPU:1&in_tree=xx", "Expected 'in_tree' parameter to be a format of uuid. Got: xx"),
    (
        39,
        "resources1=VCPU:1&resources2=VCPU:1",
        'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
    ),
    (
        39,
        "resources1=VCPU:1&resources2=VCPU:1&group_policy=&group_policy=none",
        'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
    ),
    (25, "group_policy=none", "At least one request group (`resources` or `resources{$S}`) is required."),
    (25, "required=HW_SSE&required1=HW_AVX", "Found the following orphaned traits keys: required, required1"),
    (25, f"member_of={A}&member_of3={B}", "Found the following orphaned member_of keys: member_of, member_of3"),
    (35, f"resources=VCPU:1&in_tree1={A}", "All request groups must specify resources."),
    (39, "resources=VCPU:1&%FF=1", "Invalid query string parameters: 'utf-8' codec can't decode byte 0xff"),
]
REFUSED_WITH_CODE = [
    (36, "required=HW_SSE", MISSING, "There must be at least one resources or resources[$S] parameter."),
    (36, "resources1=VCPU:1&required2=HW_SSE", BAD_VALUE, "in `same_subtree` query param: bad group(s) - ['2']."),
    (36, "resources1=VCPU:1&same_subtree=1,", BAD_VALUE, "Empty string (unsuffixed group) can not be specified in"),
    (
        36,
        "resources1=VCPU:1&same_subtree=2",
        BAD_VALUE,
        "Real suffixes should be specified in `same_subtree`: ['2'] not",
    ),
    (35, "resources=VCPU:1&root_required=HW_SSE,!HW_SSE", BAD_VALUE, "traits found in root_required: HW_SSE"),
    (39, "resources=VCPU:1&root_required=in:HW_SSE", UNDEFINED, "only supported since microversion 1.39"),
    (
        35,
        "resources=VCPU:1&root_required=HW_SSE&root_required=HW_AVX",
        "placement.query.duplicate_key",
        "may be specified only once.",
    ),
]


@pytest.mark.parametrize(("minor", "query", "text"), REFUSED)
def test_refused(minor: int, query: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(query, minor)
    assert text in str(caught.value)
    assert caught.value.code == UNDEFINED


@pytest.mark.parametrize(("minor", "query", "code", "text"), REFUSED_WITH_CODE)
def test_refused_with_a_code_of_its_own(minor: int, query: str, code: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(query, minor)
    assert text in str(caught.value)
    assert caught.value.code == code


def test_values_are_stripped() -> None:
    assert parse_resources("DISK_GB: 10 ,VCPU:1") == {"DISK_GB": 10, "VCPU": 1}
    traits = groups("resources=VCPU:1&required=%20HW_SSE%20,%20!HW_AVX")[""].traits
    assert traits.required == (frozenset({"HW_SSE"}),)
    assert traits.forbidden == {"HW_AVX"}
    assert read("resources1=VCPU:1&resources2=VCPU:1&group_policy=none&same_subtree=%201,%202").same_subtrees == (
        frozenset({"1", "2"}),
    )
    assert groups(f"resources=VCPU:1&in_tree=%20{A}%20") == groups(f"resources=VCPU:1&in_tree={A}")


def test_forbidden_aggregates_from_the_first_version_that_has_them() -> None:
    assert groups(f"resources=VCPU:1&member_of=!{A}", 32)[""].aggregates.forbidden == {A}


def test_which_of_repeated_parameters_counts() -> None:
    assert read("resources=VCPU:1&limit=3&limit=5").limit == 3
    assert read("resources1=VCPU:1&resources2=VCPU:1&group_policy=isolate&group_policy=none").isolate
    repeated = "resources=VCPU:1&required=HW_SSE&required=HW_AVX"
    assert groups(repeated, 38)[""].traits.required == (frozenset({"HW_AVX"}),)
    assert groups(repeated, 39)[""].traits.required == (frozenset({"HW_SSE"}), frozenset({"HW_AVX"}))
    both = groups(f"resources=VCPU:1&member_of={A}&member_of=in:{A},{B}")[""].aggregates.member_of
    assert both == (frozenset({A}), frozenset({A, B}))


def test_the_unsuffixed_group_comes_first() -> None:
    request = read("resources_b=VCPU:2&resources_a=VCPU:3&resources=VCPU:1&group_policy=none")
    assert [group.suffix for group in request.groups] == ["", "_b", "_a"]


def test_semicolons_separate_and_keys_may_be_bare() -> None:
    assert parse_pairs("a=1;b=2&c") == [("a", "1"), ("b", "2"), ("c", "")]


@pytest.mark.parametrize(
    ("text", "normal"),
    [(A.upper(), A), (A.replace("-", ""), A), (f" {A}", None), (A.replace("-", "_"), None), (A[:-1], None), ("", None)],
)
def test_normal_uuid(text: str, normal: str | None) -> None:
    assert normal_uuid(text) == normal


@pytest.mark.parametrize(
    ("query", "bounds", "text"),
    [
        ("resources1=VCPU:1&resources2=VCPU:1", Bounds(groups=1), "asks for 2 request groups; at most 1 are accepted."),
        ("resources=VCPU:1,DISK_GB:1", Bounds(classes=1), "asks for 2 resource classes in one group; at most 1 are"),
        ("resources=VCPU:1&required=HW_SSE,HW_AVX", Bounds(traits=1), "asks for 2 traits; at most 1 are accepted."),
        (f"resources=VCPU:1&member_of=in:{A},{B}", Bounds(aggregates=1), "asks for 2 aggregates; at most 1 are"),
    ],
)
def test_bounds_are_named(query: str, bounds: Bounds, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(query + "&group_policy=none", 39, bounds)
    assert text in str(caught.value)
    assert caught.value.code == BAD_VALUE


def test_too_many_parameters() -> None:
    with pytest.raises(QueryError, match=f"at most {MAX_PARAMETERS}"):
        parse_pairs("a=1&" * (MAX_PARAMETERS + 1))
