"""Schedulers that ask Placement for candidates, claim the first, and remember what they were told."""

import random
import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.concurrency.placement_fleet import OVERUSED, WITHOUT_ALLOCATIONS
from tests.soak.cloud import SoakCloud

PROVIDERS = 100
_TOTAL = {"VCPU": 16, "MEMORY_MB": 65_536}
_MOST = 120


def provider_uuid(number: int) -> str:
    """Of one of the providers."""
    return str(uuid.UUID(int=(0x50AC << 112) + number))


def make_providers(cloud: SoakCloud) -> None:
    """Providers with little room, before anything is killed."""
    for number in range(PROVIDERS):
        body = {"name": f"host-{number}", "uuid": provider_uuid(number)}
        made = cloud.ask_placement("POST provider", "POST", "/resource_providers", body)
        assert made is not None
        assert made.ok, made.text
        inventories = {name: {"total": total} for name, total in _TOTAL.items()}
        body_of_inventories = {"resource_provider_generation": 0, "inventories": inventories}
        path = f"/resource_providers/{provider_uuid(number)}/inventories"
        answer = cloud.ask_placement("PUT inventories", "PUT", path, body_of_inventories)
        assert answer is not None
        assert answer.ok, answer.text


@dataclass
class Scheduler:
    """Claims for consumers of its own."""

    cloud: SoakCloud
    held: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """What each consumer was acknowledged to have: resources by provider."""

    def work(self, over: threading.Event) -> None:
        """Until it is over. What is under way then is still brought to its end."""
        while not over.is_set():
            if len(self.held) < _MOST and random.random() < 0.6:
                self._claim()
            elif self.held:
                self._release(random.choice(list(self.held)))
            over.wait(0.02)

    def _claim(self) -> None:
        wanted = {"VCPU": random.choice((1, 2, 4)), "MEMORY_MB": random.choice((1024, 4096))}
        query = ",".join(f"{name}:{amount}" for name, amount in wanted.items())
        path = f"/allocation_candidates?limit=20&resources={query}"
        found = self.cloud.ask_placement("GET candidates", "GET", path)
        if found is None or found.status_code != 200 or not (requests := found.json()["allocation_requests"]):
            return
        consumer = str(uuid.uuid4())
        allocations = random.choice(requests)["allocations"]
        wanted_of_provider = {provider: part["resources"] for provider, part in allocations.items()}
        body = {
            "allocations": {provider: {"resources": part} for provider, part in wanted_of_provider.items()},
            "consumer_generation": None,
            "consumer_type": "INSTANCE",
            "project_id": "soak",
            "user_id": "soak",
        }
        answer = self.cloud.ask_placement("PUT allocations", "PUT", f"/allocations/{consumer}", body)
        if answer is None or answer.status_code >= 500:
            there = self._read(consumer)
            if there not in ({}, wanted_of_provider):
                self.cloud.tally.lost.append(f"{consumer} asked for {wanted_of_provider} and has {there}")
            if there:
                self.held[consumer] = there
        elif answer.status_code == 204:
            self.held[consumer] = wanted_of_provider
        elif answer.status_code != 409:
            self.cloud.tally.surprises.append(f"PUT allocations: {answer.status_code} {answer.text[:300]}")

    def _release(self, consumer: str) -> None:
        again = False
        while True:
            answer = self.cloud.ask_placement("DELETE allocations", "DELETE", f"/allocations/{consumer}")
            if answer is not None and answer.status_code == 204:
                break
            if answer is not None and answer.status_code == 404:
                if not again:
                    self.cloud.tally.lost.append(f"the allocations of {consumer} were gone")
                break
            if answer is not None and answer.status_code < 500 and answer.status_code != 409:
                self.cloud.tally.surprises.append(f"DELETE allocations: {answer.status_code} {answer.text[:300]}")
                return
            again = True
        del self.held[consumer]

    def _read(self, consumer: str) -> dict[str, dict[str, int]]:
        """What the consumer has. Asks until there is an answer."""
        while True:
            answer = self.cloud.ask_placement("GET allocations", "GET", f"/allocations/{consumer}")
            if answer is not None and answer.status_code == 200:
                document: dict[str, Any] = answer.json()["allocations"]
                return {provider: part["resources"] for provider, part in document.items()}

    def check(self) -> None:
        """Compares each consumer with what was acknowledged."""
        for consumer, expected in self.held.items():
            if (there := self._read(consumer)) != expected:
                self.cloud.tally.lost.append(f"{consumer} has {there}, not {expected}")


def check_rows(cloud: SoakCloud, schedulers: list[Scheduler]) -> None:
    """No provider is oversold, and there is nothing that nobody knows of."""
    for sql in (OVERUSED, WITHOUT_ALLOCATIONS):
        cloud.tally.lost.extend(f"{sql}: {row}" for row in cloud.rows(sql))
    known = {consumer for scheduler in schedulers for consumer in scheduler.held}
    there = {row[0] for row in cloud.rows("SELECT uuid FROM placement_consumers")}
    if there != known:
        cloud.tally.lost.append(f"consumers that nobody knows of: {sorted(there ^ known)[:5]}")
