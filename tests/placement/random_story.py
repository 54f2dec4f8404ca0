"""Random requests over all routes and microversions, right and wrong ones, the same for each seed.

A story lives in a world of a few names of its own. It looks at what one server answers (generations, mostly), so that
many of its requests are right; and bends some of them out of shape.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid5

from limes.placement import microversion

_SPACE = UUID("0d4c1f1e-7d0a-4f9e-9d4b-5a2f0f3b8c11")
_VERSIONS = (
    0,
    1,
    4,
    6,
    7,
    8,
    9,
    11,
    12,
    13,
    14,
    17,
    18,
    19,
    20,
    21,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    31,
    33,
    34,
    36,
    37,
    38,
    39,
)
_STANDARD_CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB")
_STANDARD_TRAITS = ("HW_CPU_X86_AVX", "STORAGE_DISK_SSD", "MISC_SHARES_VIA_AGGREGATE")
_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.0, 1.5, 2**31 - 1, 2**31, 2**63, "", " ", "x", "1", "CUSTOM_ODD", "ä", "x" * 300,
    [], {}, [[]], ["x"], {"x": 1}, [None], 1e39, "null",
)  # fmt: skip

Look = Callable[[str], Any]
"""Answers the document at a path at the newest microversion, or None."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `data` is the body as it is sent; None sends none."""

    method: str
    path: str
    version: str
    data: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.version} {self.method} {self.path} {self.data} {self.headers or ''}"


class RandomStory:
    """Requests about six providers, four consumers, two classes and two traits of this seed's own."""

    def __init__(self, seed: int, look: Look) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self._look = look
        self.providers = [self._uuid(f"provider-{n}") for n in range(6)]
        self.aggregates = [self._uuid(f"aggregate-{n}") for n in range(3)]
        self.projects = [self._uuid(f"project-{n}") for n in range(2)]
        self.own_classes = [f"CUSTOM_C{seed}_{one}" for one in "AB"]
        self.own_traits = [f"CUSTOM_T{seed}_{one}" for one in "AB"]
        self._serials = dict.fromkeys(range(4), 0)
        self.version = 0

    # -- names -------------------------------------------------------------------------------------------------------

    def _uuid(self, name: str) -> str:
        return str(uuid5(_SPACE, f"{self.seed}-{name}"))

    def consumers(self) -> list[str]:
        """The consumers of the present."""
        return [self._uuid(f"consumer-{number}-{serial}") for number, serial in self._serials.items()]

    def forget_idle(self, request: Request) -> None:
        """Takes others in place of those consumers of a write that have nothing: upstream may remember them."""
        for number, serial in self._serials.items():
            uuid = self._uuid(f"consumer-{number}-{serial}")
            if uuid in f"{request.path} {request.data}" and not self._look(f"/allocations/{uuid}")["allocations"]:
                self._serials[number] += 1

    def _chance(self, often: float) -> bool:
        return self.rng.random() < often

    def _provider(self) -> str:
        uuid = self.rng.choice(self.providers)
        if self._chance(0.03):
            return self.rng.choice([uuid.replace("-", ""), "x", f"{uuid}x", self._uuid("nobody")])
        return uuid

    def _class(self) -> str:
        return self.rng.choice([*_STANDARD_CLASSES, *_STANDARD_CLASSES, *self.own_classes])

    def _trait(self) -> str:
        return self.rng.choice([*_STANDARD_TRAITS, *self.own_traits])

    def _some(self, what: Callable[[], str], most: int) -> list[str]:
        return list(dict.fromkeys(what() for _ in range(self.rng.randint(0, most))))

    # -- requests ----------------------------------------------------------------------------------------------------

    def next(self) -> Request:
        """The next request."""
        rng = self.rng
        self.version = 39 if self._chance(0.3) else rng.choice(_VERSIONS)
        makers = (
            (self._post_provider, 8), (self._put_provider, 4), (self._delete_provider, 1), (self._classes, 4),
            (self._traits, 4), (self._put_inventories, 8), (self._put_inventory, 3), (self._post_inventory, 3),
            (self._delete_inventory, 1), (self._put_traits, 4), (self._put_aggregates, 4), (self._put_allocations, 10),
            (self._post_allocations, 5), (self._delete_allocations, 2), (self._reshape, 4), (self._get, 10),
            (self._candidates, 10), (self._list_providers, 6), (self._usages, 4), (self._anything, 2),
        )  # fmt: skip
        maker = rng.choices([one for one, _ in makers], [weight for _, weight in makers])[0]
        method, path, *rest = maker()
        body = rest[0] if rest else None
        if body is not None and self._chance(0.12):
            body = self._bent(body)
            if path == "/resource_providers" and isinstance(body, dict):
                body.setdefault("uuid", self._uuid("given"))  # else each server thinks of another one
        data = None if not rest else json.dumps(body)
        headers: dict[str, str] = {}
        version = microversion.text(self.version)
        if self._chance(0.04):
            data, version = self._odd_form(data, headers, version)
        return Request(method, path, version, data, headers)

    def _odd_form(self, data: str | None, headers: dict[str, str], version: str) -> tuple[str | None, str]:
        """Headers that are not as they should be, or a body that is no JSON."""
        which = self.rng.randrange(4)
        if which == 0:
            headers["accept"] = self.rng.choice(
                [
                    "text/html",
                    "text/plain",
                    "application/xml",
                    "*/*",
                    "application/json",
                    "text/html;q=0.5,*/*;q=0.1",
                    "",
                ]
            )
        elif which == 1 and data is not None:
            headers["content-type"] = self.rng.choice(
                ["text/plain", "application/json; charset=utf-8", "application/xml", "json"]
            )
        elif which == 2 and data is not None:
            data = self.rng.choice(["", "{", "null", "[]", "{}", "x", data + "}", '"x"', "1", '{"a": 1, "a": 2}'])
        else:
            version = self.rng.choice(["latest", "1.40", "2.0", "0.9", "1.x", "1", "1.2.3", "-1.0", "LATEST"])
        return data, version

    def _bent(self, body: Any) -> Any:
        """The body with something odd at one place in it."""
        rng = self.rng
        if isinstance(body, dict) and body and self._chance(0.85):
            bent = dict(body)
            key = rng.choice(sorted(bent))
            which = rng.random()
            if which < 0.5:
                bent[key] = self._bent(bent[key])
            elif which < 0.7:
                del bent[key]
            elif which < 0.85:
                bent[rng.choice(["odd", "", "uuid", "CUSTOM_ODD", "generation", self._uuid("odd")])] = bent[key]
            else:
                bent[key] = rng.choice(_ODD_VALUES)
            return bent
        if isinstance(body, list) and body and self._chance(0.7):
            index = rng.randrange(len(body))
            return [*body, body[index]] if self._chance(0.4) else [*body[:index], self._bent(body[index])]
        return rng.choice(_ODD_VALUES)

    # -- what is known -----------------------------------------------------------------------------------------------

    def _generation(self, uuid: str) -> int:
        if self._chance(0.05):
            return self.rng.randint(-1, 5)
        found = self._look(f"/resource_providers/{uuid}")
        return found["generation"] if found else 0

    def _consumer_generation(self, uuid: str) -> int | None:
        if self._chance(0.06):
            return self.rng.choice([None, 0, 1, 2, 99])
        generation: int | None = self._look(f"/allocations/{uuid}").get("consumer_generation")
        return generation

    # -- providers ---------------------------------------------------------------------------------------------------

    def _place(self, uuid: str) -> dict[str, Any]:
        name = f"{self.seed}-{self.providers.index(uuid) if uuid in self.providers else 'odd'}"
        if self._chance(0.1):
            name = f"{self.seed}-{self.rng.randrange(8)}"
        body: dict[str, Any] = {"name": name}
        if self._chance(0.6 if self.version >= 14 else 0.05):
            body["parent_provider_uuid"] = self.rng.choice([*self.providers, self._uuid("nobody"), "x", None, None])
        return body

    def _post_provider(self) -> Any:
        uuid = self._provider()
        return "POST", "/resource_providers", self._place(uuid) | {"uuid": uuid}

    def _put_provider(self) -> Any:
        uuid = self._provider()
        return "PUT", f"/resource_providers/{uuid}", self._place(uuid)

    def _delete_provider(self) -> Any:
        return "DELETE", f"/resource_providers/{self._provider()}"

    def _classes(self) -> Any:
        name = self.rng.choice(self.own_classes)
        if self._chance(0.1):
            name = self.rng.choice(["VCPU", "CUSTOM_", "custom_x", "CUSTOM_ä", "NOPE", "CUSTOM_" + "X" * 249, "A B"])
        path = f"/resource_classes/{quote(name)}"
        which = self.rng.randrange(6)
        if which == 0:
            return "POST", "/resource_classes", {"name": name}
        if which <= 3:
            return ("PUT", path) if self.version >= 7 else ("PUT", path, {"name": self.rng.choice(self.own_classes)})
        return ("DELETE", path) if which == 4 else ("GET", path)

    def _traits(self) -> Any:
        name = self.rng.choice(self.own_traits)
        if self._chance(0.1):
            name = self.rng.choice(["HW_CPU_X86_AVX", "CUSTOM_", "custom_x", "CUSTOM_ä", "CUSTOM_" + "X" * 249, "A B"])
        which = self.rng.randrange(7)
        if which == 6:
            queries = [
                f"name=startswith:CUSTOM_T{self.seed}_", f"name=in:{name},HW_CPU_X86_AVX", "name=x", "name=in:", "name=",
                f"associated=true&name=startswith:CUSTOM_T{self.seed}_", "associated=TRUE&name=in:HW_CPU_X86_SSE",
                f"associated=false&name=startswith:CUSTOM_T{self.seed}_", "associated=1", "odd=1", "name=startswith:",
            ]  # fmt: skip
            return "GET", f"/traits?{self.rng.choice(queries)}"
        return ("PUT" if which <= 3 else "DELETE" if which == 4 else "GET"), f"/traits/{quote(name)}"

    # -- inventory ---------------------------------------------------------------------------------------------------

    def _inventory(self) -> dict[str, Any]:
        rng = self.rng
        one: dict[str, Any] = {"total": rng.choice([1, 2, 4, 8, 16, 100])}
        if self._chance(0.3):
            one["reserved"] = rng.choice([0, 1, 2, one["total"], one["total"] + 1])
        if self._chance(0.2) and one.get("reserved", 0) <= one["total"]:
            one["allocation_ratio"] = rng.choice([0.5, 1, 1.5, 2.0, 16.0, 0.0])
        if self._chance(0.2):
            one["min_unit"] = rng.choice([1, 2, 10])
        if self._chance(0.2):
            one["max_unit"] = rng.choice([1, 4, 100])
        if self._chance(0.2):
            one["step_size"] = rng.choice([1, 2, 3])
        return one

    def _inventories(self) -> dict[str, Any]:
        return {name: self._inventory() for name in self._some(self._class, 4)}

    def _put_inventories(self) -> Any:
        uuid = self._provider()
        body = {"resource_provider_generation": self._generation(uuid), "inventories": self._inventories()}
        return "PUT", f"/resource_providers/{uuid}/inventories", body

    def _put_inventory(self) -> Any:
        uuid = self._provider()
        body = {"resource_provider_generation": self._generation(uuid), **self._inventory()}
        return "PUT", f"/resource_providers/{uuid}/inventories/{self._class()}", body

    def _post_inventory(self) -> Any:
        body = {"resource_class": self._class(), **self._inventory()}
        return "POST", f"/resource_providers/{self._provider()}/inventories", body

    def _delete_inventory(self) -> Any:
        path = f"/resource_providers/{self._provider()}/inventories"
        return "DELETE", path if self._chance(0.3) else f"{path}/{self._class()}"

    def _put_traits(self) -> Any:
        uuid = self._provider()
        path = f"/resource_providers/{uuid}/traits"
        if self._chance(0.1):
            return "DELETE", path
        body = {"resource_provider_generation": self._generation(uuid), "traits": self._some(self._trait, 3)}
        return "PUT", path, body

    def _put_aggregates(self) -> Any:
        uuid = self._provider()
        some: Any = self._some(lambda: self.rng.choice(self.aggregates), 3)
        if self.version >= 19 or self._chance(0.03):
            some = {"resource_provider_generation": self._generation(uuid), "aggregates": some}
        return "PUT", f"/resource_providers/{uuid}/aggregates", some

    # -- allocations -------------------------------------------------------------------------------------------------

    def _resources(self) -> Any:
        amounts = {
            self._provider(): {name: self.rng.choice([1, 1, 2, 3, 4, 10]) for name in self._some(self._class, 2)}
            for _ in range(self.rng.choice([0, 1, 1, 1, 2]))
        }
        amounts = {uuid: found for uuid, found in amounts.items() if found or self._chance(0.1)}
        if self.version < 12:
            return [{"resource_provider": {"uuid": uuid}, "resources": found} for uuid, found in amounts.items()]
        more = {"generation": 1} if self._chance(0.1) else {}
        return {uuid: {"resources": found, **more} for uuid, found in amounts.items()}

    def _claim(self, uuid: str) -> dict[str, Any]:
        rng = self.rng
        body: dict[str, Any] = {"allocations": self._resources()}
        if self.version >= 8:
            body |= {"project_id": rng.choice(self.projects), "user_id": rng.choice(["u1", "u2"])}
        if self.version >= 28:
            body["consumer_generation"] = self._consumer_generation(uuid)
        if self.version >= 34 and self._chance(0.2):
            body["mappings"] = {rng.choice(["", "1", "_x"]): [self._provider()]}
        if self.version >= 38:
            body["consumer_type"] = rng.choice(["INSTANCE", "MIGRATION", "INSTANCE", "odd", "unknown"])
        return body

    def _consumer(self) -> str:
        return self.rng.choice(self.consumers())

    def _put_allocations(self) -> Any:
        uuid = self._consumer()
        return "PUT", f"/allocations/{uuid}", self._claim(uuid)

    def _claims(self) -> dict[str, Any]:
        return {uuid: self._claim(uuid) for uuid in self._some(self._consumer, 3)}

    def _post_allocations(self) -> Any:
        self.version = max(self.version, self.rng.choice([0, 13, 13, 13]))
        return "POST", "/allocations", self._claims()

    def _delete_allocations(self) -> Any:
        return "DELETE", f"/allocations/{self._consumer()}"

    def _reshape(self) -> Any:
        self.version = max(self.version, self.rng.choice([0, 30, 30, 30]))
        shapes = {}
        for uuid in self._some(self._provider, 3):
            found = self._look(f"/resource_providers/{uuid}/inventories") or {"inventories": {}}
            inventories = {
                name: {key: value for key, value in one.items() if key != "resource_provider_generation"}
                for name, one in found["inventories"].items()
                if self._chance(0.8)
            } | (self._inventories() if self._chance(0.5) else {})
            shapes[uuid] = {"resource_provider_generation": self._generation(uuid), "inventories": inventories}
        return "POST", "/reshaper", {"inventories": shapes, "allocations": self._claims()}

    # -- reads -------------------------------------------------------------------------------------------------------

    def _get(self) -> Any:
        here = f"/resource_providers/{self._provider()}"
        paths = [
            here, f"{here}/inventories", f"{here}/inventories/{self._class()}", f"{here}/usages", f"{here}/allocations",
            f"{here}/aggregates", f"{here}/traits", f"/allocations/{self._consumer()}", f"/allocations/{self._consumer()}",
            "/", "/resource_classes",
        ]  # fmt: skip
        return "GET", self.rng.choice(paths)

    def _usages(self) -> Any:
        pairs = [("project_id", self.rng.choice([*self.projects, "", "x"]))]
        if self._chance(0.3):
            pairs.append(("user_id", self.rng.choice(["u1", "u2", ""])))
        if self.version >= 38 or self._chance(0.1):
            pairs += [
                ("consumer_type", self.rng.choice(["all", "unknown", "INSTANCE", "ALL", "x", ""]))
            ] * self._chance(0.7)
        if self._chance(0.1):
            pairs.append(self.rng.choice([("odd", "1"), ("project_id", self.projects[0]), ("user_id", "u1")]))
        return "GET", f"/usages?{urlencode(pairs[self._chance(0.05) :])}"

    def _amounts(self, most: int) -> str:
        if self._chance(0.04):
            return self.rng.choice(
                ["", "VCPU", "VCPU:", "VCPU:0", "VCPU:-1", "VCPU:x", "NOPE:1", ":1", "VCPU:1:1", "VCPU:1,"]
            )
        names = list(dict.fromkeys(self._class() for _ in range(self.rng.randint(1, most))))
        return ",".join(f"{name}:{self.rng.choice([1, 1, 1, 2, 3])}" for name in names)

    def _required(self) -> str:
        if self._chance(0.08):
            odd = ["", "!", ",", "NOPE", "!NOPE", "in:", "in:NOPE", "in:!HW_CPU_X86_AVX", "HW_CPU_X86_AVX,", " ", "in"]
            return self.rng.choice(odd)
        names = self._some(self._trait, 2) or [self._trait()]
        if self.version >= 39 and self._chance(0.3):
            return "in:" + ",".join(names)
        may_forbid = self.version >= 22 or self._chance(0.05)
        return ",".join(("!" if may_forbid and self._chance(0.4) else "") + name for name in names)

    def _member_of(self) -> str:
        if self._chance(0.08):
            one = self.aggregates[0]
            return self.rng.choice(
                ["", "x", "in:", "in:x", "!", "!in:", f"{one},{one}", f"in:{one},", f"!{one},{one}", "!!x"]
            )
        sign = "!" if (self.version >= 32 or self._chance(0.05)) and self._chance(0.3) else ""
        some = self._some(lambda: self.rng.choice(self.aggregates), 3)
        return f"{sign}in:{','.join(some)}" if some else sign + self.rng.choice(self.aggregates)

    def _filters(self, suffix: str, often: float) -> list[tuple[str, str]]:
        """Filters of one group that the microversion has, and now and then one that it has not."""
        pairs = []
        for name, make, since, chance in (
            ("required", self._required, 17, 0.4), ("required", self._required, 39, 0.2),
            ("member_of", self._member_of, 21, 0.25), ("member_of", self._member_of, 24, 0.1),
            ("in_tree", self._provider, 31, 0.2),
        ):  # fmt: skip
            if (self.version >= since or self._chance(0.03)) and self._chance(chance * often):
                pairs.append((name + suffix, make()))
        return pairs

    def _candidates(self) -> Any:
        rng = self.rng
        self.version = max(self.version, rng.choice([0, 10, 10, 25, 36]))
        pairs: list[tuple[str, str]] = []
        if self.version < 25 or self._chance(0.65):
            pairs += [("resources", self._amounts(2)), *self._filters("", 1.0)]
        suffixes = []
        if self.version >= 25 or self._chance(0.03):
            for number in range(rng.choice([0, 0, 1, 2])):
                suffix = str(number + 1) if self._chance(0.9) else rng.choice(["_A", "0", "01", "_a-b", "ä", "-"])
                suffixes.append(suffix)
                pairs += [(f"resources{suffix}", self._amounts(2))] * self._chance(0.93) + self._filters(suffix, 0.6)
        if (self.version >= 36 or self._chance(0.02)) and suffixes and self._chance(0.5):
            pairs.append(("same_subtree", ",".join(rng.choice(suffixes) for _ in range(rng.randint(1, 2)))))
        if len(suffixes) > 1 or self._chance(0.1):
            pairs += [("group_policy", rng.choice(["none", "isolate", "none", "isolate", "odd"]))] * self._chance(0.95)
        if self.version >= 35 and self._chance(0.2):
            pairs.append(("root_required", self._required()))
        if self._chance(0.1):
            pairs.append(("limit", rng.choice(["1", "2", "1000", "0", "-1", "x", "", "01"])))
        if self._chance(0.03):
            pairs.append(rng.choice([("odd", "1"), ("limit", "1"), ("resources", "VCPU:1"), ("root_required", "NOPE")]))
        return "GET", f"/allocation_candidates?{urlencode(pairs, safe=':,!')}"

    def _list_providers(self) -> Any:
        rng = self.rng
        pairs: list[tuple[str, str]] = []
        if self._chance(0.2):
            pairs.append(("name", f"{self.seed}-{rng.randrange(6)}" if self._chance(0.9) else ""))
        if self._chance(0.2):
            pairs.append(("uuid", self.rng.choice([*self.providers, "x", ""])))
        if (self.version >= 4 or self._chance(0.05)) and self._chance(0.5):
            pairs.append(("resources", self._amounts(2)))
        if (self.version >= 3 or self._chance(0.05)) and self._chance(0.4):
            pairs += [("member_of", self._member_of())] * rng.choice([1, 1, 2])
        if (self.version >= 14 or self._chance(0.05)) and self._chance(0.4):
            pairs.append(("in_tree", self.rng.choice([*self.providers, "x", ""])))
        if (self.version >= 18 or self._chance(0.05)) and self._chance(0.4):
            pairs += [("required", self._required())] * rng.choice([1, 1, 2])
        if self._chance(0.03):
            pairs.append(rng.choice([("odd", "1"), ("limit", "1"), ("name", "x"), ("required1", "VCPU")]))
        return "GET", f"/resource_providers?{urlencode(pairs, safe=':,!')}"

    def _anything(self) -> Any:
        here = f"/resource_providers/{self._provider()}"
        path = self.rng.choice([
            "/", "/resource_providers", here, f"{here}/inventories", f"{here}/inventories/VCPU", f"{here}/usages",
            f"{here}/allocations", f"{here}/aggregates", f"{here}/traits", "/resource_classes", "/resource_classes/VCPU",
            "/traits", "/traits/HW_CPU_X86_AVX", "/allocations", f"/allocations/{self._consumer()}", "/usages", "/reshaper",
            "/allocation_candidates", "/nowhere", f"{here}/", f"{here}/nowhere", "//", "/resource_providers/", "/traits/",
        ])  # fmt: skip
        method = self.rng.choice(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"])
        return (method, path, self.rng.choice([{}, [], None, "x"])) if self._chance(0.5) else (method, path)
