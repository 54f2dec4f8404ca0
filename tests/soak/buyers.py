"""Users who buy commitments, let go of them, and remember what they were told."""

import itertools
import random
import threading
from dataclasses import dataclass, field

from tests.faults.house import DOMAIN
from tests.soak.cloud import CAPACITY, SoakCloud

_MOST = 25


@dataclass
class Buyer:
    """Works in one project of its own."""

    cloud: SoakCloud
    project: str
    held: dict[int, int] = field(default_factory=dict)
    """Amounts of the commitments that were acknowledged and not deleted, by id."""
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def _path(self) -> str:
        return f"/v1/domains/{DOMAIN}/projects/{self.project}/commitments"

    def work(self, over: threading.Event) -> None:
        """Until it is over. What is under way then is still brought to its end."""
        while not over.is_set():
            if len(self.held) < _MOST and random.random() < 0.6:
                self._buy()
            elif self.held:
                self._delete(random.choice(list(self.held)))
            over.wait(0.05)

    def _buy(self) -> None:
        """Asks until there is an answer, always with the same key."""
        amount = random.randint(1, 30)
        key = f"{self.project}-{next(self._numbers)}"
        place = {"service_type": "compute", "resource_name": "cores", "availability_zone": "az-one"}
        body = {"commitment": {**place, "amount": amount, "duration": "1 day"}}
        while True:
            answer = self.cloud.ask("POST commitment", "POST", f"{self._path}/new", body, **{"Idempotency-Key": key})
            if answer is None or answer.status_code >= 500:
                continue
            if answer.status_code == 201:
                self.held[answer.json()["commitment"]["id"]] = amount
            elif answer.status_code != 409:
                self.cloud.tally.surprises.append(f"POST commitment: {answer.status_code} {answer.text[:300]}")
            return

    def _delete(self, number: int) -> None:
        """Asks until it is gone. Not found is an answer as well, if one before it has been lost."""
        again = False
        while True:
            answer = self.cloud.ask("DELETE commitment", "DELETE", f"{self._path}/{number}")
            if answer is not None and answer.status_code == 204:
                break
            if answer is not None and answer.status_code == 404:
                if not again:
                    self.cloud.tally.lost.append(f"commitment {number} of {self.project} was gone")
                break
            if answer is not None and answer.status_code < 500:
                self.cloud.tally.surprises.append(f"DELETE commitment: {answer.status_code} {answer.text[:300]}")
                return
            again = True
        del self.held[number]

    def check(self) -> int:
        """Compares with the list, and answers what the project has committed to."""
        answer = self.cloud.request("GET", self._path)
        there = {each["id"]: each["amount"] for each in answer.json()["commitments"] if each["status"] == "confirmed"}
        if there != self.held:
            self.cloud.tally.lost.append(f"{self.project} has {sorted(there.items())}, not {sorted(self.held.items())}")
        return sum(there.values())


def check_not_oversold(buyers: list[Buyer]) -> None:
    """Nobody else commits to anything."""
    sold = sum(buyer.check() for buyer in buyers)
    if sold > CAPACITY:
        buyers[0].cloud.tally.lost.append(f"{sold} cores are committed, but there are only {CAPACITY}")
