"""The part of a copy that is about consumers and their allocations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limes.placement.transfer.api import TYPED, LocalApi, Refused
from limes.placement.transfer.contents import ConsumerState, Contents, Progress

_BATCH = 50


class ConsumerWriter:
    """Writes consumers that differ, in batches.

    A consumer may not fit before another one has moved away. So what is refused is tried again, as long as some of it
    succeeds; and at last all together, for two that change places.
    """

    def __init__(self, api: LocalApi, theirs: Contents, ours: Contents, progress: Progress, *, prune: bool) -> None:
        self._api = api
        self._theirs = theirs
        self._ours = ours
        self._progress = progress
        self._prune = prune
        self._forgotten: set[str] = set()

    def run(self) -> list[str]:
        """Answers a line for each consumer that could not be written."""
        if self._prune:
            for uuid in self._ours.consumers.keys() - self._theirs.consumers.keys():
                self._delete(uuid)
        changed = [one for uuid, one in self._theirs.consumers.items() if self._ours.consumers.get(uuid) != one]
        for one in changed:
            mine = self._ours.consumers.get(one.uuid)
            if mine is not None and mine.consumer_type is not None and one.consumer_type is None:
                self._delete(one.uuid)  # a type cannot be taken away by a write
        left: list[ConsumerState] = []
        for one, written in self._progress("writing consumers", self._write_all(changed), len(changed)):
            if not written:
                left.append(one)
        return self._insist(left)

    def _write_all(self, changed: Sequence[ConsumerState]) -> Iterator[tuple[ConsumerState, bool]]:
        """Tries all, batch by batch; gives each with whether it was written."""
        for batch in _batches(changed, _BATCH):
            refused = set() if self._try(batch) else {one.uuid for one in self._try_each(batch)}
            for one in batch:
                yield one, one.uuid not in refused

    def _delete(self, uuid: str) -> None:
        self._api.send("DELETE", f"/allocations/{uuid}")
        self._forgotten.add(uuid)

    def _insist(self, left: list[ConsumerState]) -> list[str]:
        before = len(left) + 1
        while left and len(left) < before:
            before = len(left)
            left = self._try_each(left)
        together = [batch for batch in _batches(left, len(left) or 1) if not self._try(batch)]
        return [f"consumer {one.uuid}: {self._reason(one)}" for batch in together for one in batch]

    def _try_each(self, consumers: Sequence[ConsumerState]) -> list[ConsumerState]:
        """Answers those that were refused."""
        return [one for one in consumers if not self._try([one])]

    def _try(self, batch: Sequence[ConsumerState]) -> bool:
        """Writes all of them or none; answers whether it did."""
        try:
            self._write(batch)
        except Refused:
            return False
        return True

    def _reason(self, one: ConsumerState) -> str:
        try:
            self._write([one])
        except Refused as error:
            return str(error)
        return "could be written at last; run the import again"

    def _write(self, batch: Sequence[ConsumerState]) -> None:
        typed = batch[0].consumer_type is not None
        body = {one.uuid: self._body(one) for one in batch}
        self._api.send("POST", "/allocations", body, version=TYPED if typed else TYPED - 1)

    def _body(self, one: ConsumerState) -> Mapping[str, Any]:
        known = None if one.uuid in self._forgotten else self._ours.generations.get(one.uuid)
        return {
            "allocations": {uuid: {"resources": resources} for uuid, resources in one.resources.items()},
            "project_id": one.project_id,
            "user_id": one.user_id,
            "consumer_generation": known,
            **({} if one.consumer_type is None else {"consumer_type": one.consumer_type}),
        }


def _batches(consumers: Sequence[ConsumerState], size: int) -> list[list[ConsumerState]]:
    """In groups, of which each has either types or none, as one request has to."""
    found = []
    for typed in (True, False):
        some = [one for one in consumers if (one.consumer_type is not None) is typed]
        found += [some[start : start + size] for start in range(0, len(some), size)]
    return found
