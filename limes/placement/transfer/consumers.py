"""The part of a copy that is about consumers and their allocations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limes.placement.transfer.api import TYPED, LocalApi, Refused
from limes.placement.transfer.contents import ConsumerState, Contents, Progress

_BATCH = 50


class ConsumerWriter:
    """Writes the consumers that differ, in batches.

    A consumer may not fit until another one has moved away. So refused ones are tried again as long as some of them
    succeed; and at last all together, since two may change places.
    """

    def __init__(self, api: LocalApi, theirs: Contents, ours: Contents, progress: Progress, *, prune: bool) -> None:
        self._api = api
        self._theirs = theirs
        self._ours = ours
        self._progress = progress
        self._prune = prune
        self._deleted: set[str] = set()

    def run(self) -> list[str]:
        """Returns a line for each consumer that could not be written."""
        if self._prune:
            for uuid in self._ours.consumers.keys() - self._theirs.consumers.keys():
                self._delete(uuid)
        changed = [
            consumer for uuid, consumer in self._theirs.consumers.items() if self._ours.consumers.get(uuid) != consumer
        ]
        for consumer in changed:
            present = self._ours.consumers.get(consumer.uuid)
            if present is not None and present.consumer_type is not None and consumer.consumer_type is None:
                self._delete(consumer.uuid)  # a type cannot be taken away by a write
        refused: list[ConsumerState] = []
        for consumer, written in self._progress("writing consumers", self._write_all(changed), len(changed)):
            if not written:
                refused.append(consumer)
        return self._retry(refused)

    def _write_all(self, changed: Sequence[ConsumerState]) -> Iterator[tuple[ConsumerState, bool]]:
        """Tries all, batch by batch. Yields each consumer with whether it was written."""
        for batch in _batches(changed, _BATCH):
            refused = set() if self._try(batch) else {consumer.uuid for consumer in self._try_each(batch)}
            for consumer in batch:
                yield consumer, consumer.uuid not in refused

    def _delete(self, uuid: str) -> None:
        self._api.send("DELETE", f"/allocations/{uuid}")
        self._deleted.add(uuid)

    def _retry(self, refused: list[ConsumerState]) -> list[str]:
        before = len(refused) + 1
        while refused and len(refused) < before:
            before = len(refused)
            refused = self._try_each(refused)
        together = [batch for batch in _batches(refused, len(refused) or 1) if not self._try(batch)]
        return [f"consumer {consumer.uuid}: {self._reason(consumer)}" for batch in together for consumer in batch]

    def _try_each(self, consumers: Sequence[ConsumerState]) -> list[ConsumerState]:
        """Returns those that were refused."""
        return [consumer for consumer in consumers if not self._try([consumer])]

    def _try(self, batch: Sequence[ConsumerState]) -> bool:
        """Writes all of them or none. Returns whether they were written."""
        try:
            self._write(batch)
        except Refused:
            return False
        return True

    def _reason(self, consumer: ConsumerState) -> str:
        try:
            self._write([consumer])
        except Refused as error:
            return str(error)
        return "could be written at last; run the import again"

    def _write(self, batch: Sequence[ConsumerState]) -> None:
        typed = batch[0].consumer_type is not None
        body = {consumer.uuid: self._body(consumer) for consumer in batch}
        self._api.send("POST", "/allocations", body, version=TYPED if typed else TYPED - 1)

    def _body(self, consumer: ConsumerState) -> Mapping[str, Any]:
        present = None if consumer.uuid in self._deleted else self._ours.consumers.get(consumer.uuid)
        return {
            "allocations": {uuid: {"resources": resources} for uuid, resources in consumer.resources.items()},
            "project_id": consumer.project_id,
            "user_id": consumer.user_id,
            "consumer_generation": None if present is None else present.generation,
            **({} if consumer.consumer_type is None else {"consumer_type": consumer.consumer_type}),
        }


def _batches(consumers: Sequence[ConsumerState], size: int) -> list[list[ConsumerState]]:
    """Batches in which either all consumers have types or none has, as a request requires."""
    batches = []
    for typed in (True, False):
        of_kind = [consumer for consumer in consumers if (consumer.consumer_type is not None) is typed]
        batches += [of_kind[start : start + size] for start in range(0, len(of_kind), size)]
    return batches
