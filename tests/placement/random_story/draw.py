"""What the requests of a story are drawn from: dice, the names of its world, a microversion, what a server answers."""

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid5

_SPACE = UUID("0d4c1f1e-7d0a-4f9e-9d4b-5a2f0f3b8c11")
_STANDARD_CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB")
_STANDARD_TRAITS = ("HW_CPU_X86_AVX", "STORAGE_DISK_SSD", "MISC_SHARES_VIA_AGGREGATE")

Look = Callable[[str], Any]
"""Answers the document at a path at the newest microversion, or None."""


class Draw:
    """Six providers, four consumers, two classes and two traits of this seed's own. Now and then a draw is wrong."""

    def __init__(self, seed: int, look: Look) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.look = look
        self.providers = [self.uuid(f"provider-{n}") for n in range(6)]
        self.aggregates = [self.uuid(f"aggregate-{n}") for n in range(3)]
        self.projects = [self.uuid(f"project-{n}") for n in range(2)]
        self.own_classes = [f"CUSTOM_C{seed}_{one}" for one in "AB"]
        self.own_traits = [f"CUSTOM_T{seed}_{one}" for one in "AB"]
        self._serials = dict.fromkeys(range(4), 0)
        self.version = 0
        """The microversion of the present request."""

    def uuid(self, name: str) -> str:
        """The UUID of what the story calls by this name."""
        return str(uuid5(_SPACE, f"{self.seed}-{name}"))

    def chance(self, often: float) -> bool:
        """Whether it happens this time."""
        return self.rng.random() < often

    def some(self, what: Callable[[], str], most: int) -> list[str]:
        """Up to so many different ones, or none."""
        return list(dict.fromkeys(what() for _ in range(self.rng.randint(0, most))))

    def provider(self) -> str:
        """A provider's UUID, or something like it."""
        uuid = self.rng.choice(self.providers)
        if self.chance(0.03):
            return self.rng.choice([uuid.replace("-", ""), "x", f"{uuid}x", self.uuid("nobody")])
        return uuid

    def resource_class(self) -> str:
        """A resource class, mostly a standard one."""
        return self.rng.choice([*_STANDARD_CLASSES, *_STANDARD_CLASSES, *self.own_classes])

    def trait(self) -> str:
        """A trait."""
        return self.rng.choice([*_STANDARD_TRAITS, *self.own_traits])

    def consumers(self) -> list[str]:
        """The consumers of the present."""
        return [self.uuid(f"consumer-{number}-{serial}") for number, serial in self._serials.items()]

    def consumer(self) -> str:
        """A consumer of the present."""
        return self.rng.choice(self.consumers())

    def forget_idle(self, request: str) -> None:
        """Takes others in place of those consumers of a write that have nothing: upstream may remember them."""
        for number, serial in self._serials.items():
            uuid = self.uuid(f"consumer-{number}-{serial}")
            if uuid in request and not self.look(f"/allocations/{uuid}")["allocations"]:
                self._serials[number] += 1

    def generation(self, uuid: str) -> int:
        """The provider's generation, mostly."""
        if self.chance(0.05):
            return self.rng.randint(-1, 5)
        found = self.look(f"/resource_providers/{uuid}")
        return found["generation"] if found else 0

    def consumer_generation(self, uuid: str) -> int | None:
        """The consumer's generation, mostly."""
        if self.chance(0.06):
            return self.rng.choice([None, 0, 1, 2, 99])
        generation: int | None = self.look(f"/allocations/{uuid}").get("consumer_generation")
        return generation
