"""Makes our Placement hold what another one holds, by writing what differs.

The order makes each write possible: names, providers (each after its parent), their inventories with room for all that
is to come, consumers, and last the inventories as they are to be. The room matters where a source has more in use than
its inventory says, which can come about but cannot be written; and where a class goes that is still in use here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from limes.placement.objects.inventory import MAX_INT
from limes.placement.transfer.api import TYPED, LocalApi, Refused, quoted
from limes.placement.transfer.contents import CUSTOM, ConsumerState, Contents, Progress, ProviderState

Inventories = Mapping[str, Mapping[str, Any]]


class Writer:
    """One run. `problems` has a line for each refused write; all others are done."""

    def __init__(self, api: LocalApi, theirs: Contents, ours: Contents, progress: Progress, *, prune: bool) -> None:
        """`ours` is what our side holds at the start. With `prune`, what only we have is deleted; else it stays."""
        self.problems: list[str] = []
        self._api, self._theirs, self._ours = api, theirs, ours
        self._progress, self._prune = progress, prune
        self._names = {provider.name: provider.uuid for provider in ours.providers.values()}
        self._inventories = {uuid: provider.inventories for uuid, provider in ours.providers.items()}
        self._amounts = _amounts_to_come(theirs, ours)

    def run(self) -> None:
        """Writes everything. Raises `BackendError` if the database fails; then run it again."""
        for path, theirs, ours in self._vocabularies():
            for name in sorted(theirs - ours):
                if name.startswith(CUSTOM):
                    self._attempt(name, self._api.send, "PUT", f"/{path}/{quoted(name)}")
        count = len(self._theirs.providers)
        for provider in self._progress("writing providers", self._theirs.providers.values(), count):
            self._attempt(f"provider {provider.uuid}", self._write_provider, provider)
        consumers = ConsumerWriter(self._api, self._theirs, self._ours, self._progress, prune=self._prune)
        self.problems += consumers.run()
        for provider in self._theirs.providers.values():
            if self._inventories.get(provider.uuid, provider.inventories) != provider.inventories:
                subject = f"inventory of provider {provider.uuid}"
                self._attempt(subject, self._put_inventories, provider.uuid, provider.inventories)
        if self._prune:
            self._delete_extras()

    def _delete_extras(self) -> None:
        for uuid in reversed(list(self._ours.providers)):
            if uuid not in self._theirs.providers:
                self._attempt(f"provider {uuid}", self._api.send, "DELETE", f"/resource_providers/{uuid}")
        for path, theirs, ours in self._vocabularies():
            for name in sorted(ours - theirs):
                if name.startswith(CUSTOM):
                    self._attempt(name, self._api.send, "DELETE", f"/{path}/{quoted(name)}")

    def _attempt(self, subject: str, write: Callable[..., Any], *arguments: Any) -> None:
        try:
            write(*arguments)
        except Refused as error:
            self.problems.append(f"{subject}: {error}")

    def _vocabularies(self) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
        yield "resource_classes", self._theirs.classes, self._ours.classes
        yield "traits", self._theirs.traits, self._ours.traits

    def _write_provider(self, provider: ProviderState) -> None:
        present = self._ours.providers.get(provider.uuid)
        path = f"/resource_providers/{provider.uuid}"
        name_and_parent = {"name": provider.name, "parent_provider_uuid": provider.parent_uuid}
        if present is None:
            self._make_name_available(provider)
            self._api.send("POST", "/resource_providers", {**name_and_parent, "uuid": provider.uuid})
        elif (present.name, present.parent_uuid) != (provider.name, provider.parent_uuid):
            self._make_name_available(provider)
            self._api.send("PUT", path, name_and_parent)
            if self._names.get(present.name) == provider.uuid:
                del self._names[present.name]
        self._names[provider.name] = provider.uuid
        room = self._inventories_with_room(provider, present)
        if (present.inventories if present else {}) != room:
            self._put_inventories(provider.uuid, room)
        if (present.traits if present else frozenset()) != provider.traits:
            self._put(f"{path}/traits", provider.uuid, {"traits": sorted(provider.traits)})
        if (present.aggregates if present else frozenset()) != provider.aggregates:
            self._put(f"{path}/aggregates", provider.uuid, {"aggregates": sorted(provider.aggregates)})

    def _make_name_available(self, provider: ProviderState) -> None:
        """Renames the provider that has the name here: later it gets its own, or is deleted. Raises `Refused`."""
        holder = self._names.get(provider.name)
        if holder is None or holder == provider.uuid:
            return
        if holder not in self._theirs.providers and not self._prune:
            raise Refused(f"the name {provider.name} belongs to provider {holder}, which is only here")
        present = self._api.get(f"/resource_providers/{holder}")
        name_and_parent = {"name": holder, "parent_provider_uuid": present["parent_provider_uuid"]}
        self._api.send("PUT", f"/resource_providers/{holder}", name_and_parent)
        del self._names[provider.name]

    def _put(self, path: str, uuid: str, body: Mapping[str, Any]) -> None:
        generation = self._api.get(f"/resource_providers/{uuid}")["generation"]
        self._api.send("PUT", path, {**body, "resource_provider_generation": generation})

    def _put_inventories(self, uuid: str, inventories: Inventories) -> None:
        self._put(f"/resource_providers/{uuid}/inventories", uuid, {"inventories": inventories})
        self._inventories[uuid] = inventories

    def _inventories_with_room(self, provider: ProviderState, present: ProviderState | None) -> Inventories:
        """Returns the provider's future inventories, with room for what will be used, and those in use here."""
        kept = {}
        if present:
            in_use = {name for name, used in present.usages.items() if used}
            kept = {name: present.inventories[name] for name in in_use if name not in provider.inventories}
        return kept | {
            name: with_room_for(values, self._amounts.get((provider.uuid, name), ()))
            for name, values in provider.inventories.items()
        }


def with_room_for(values: Mapping[str, Any], amounts: Sequence[int]) -> Mapping[str, Any]:
    """Returns an inventory that takes these amounts: the given one if it can, else one that takes nearly anything."""
    capacity = int((values["total"] - values["reserved"]) * values["allocation_ratio"])
    fit = all(
        values["min_unit"] <= amount <= values["max_unit"] and amount % values["step_size"] == 0 for amount in amounts
    )
    if fit and sum(amounts) <= capacity:
        return values
    units = {"reserved": 0, "min_unit": 1, "max_unit": MAX_INT, "step_size": 1}
    return {**values, **units, "allocation_ratio": max(values["allocation_ratio"], float(sum(amounts)))}


def _amounts_to_come(theirs: Contents, ours: Contents) -> dict[tuple[str, str], list[int]]:
    """By provider and class of the consumers still to be written: the amounts that all consumers will have."""
    of_all: dict[tuple[str, str], list[int]] = {}
    to_come: set[tuple[str, str]] = set()
    for consumer in theirs.consumers.values():
        changed = ours.consumers.get(consumer.owner.uuid) != consumer
        for provider, resources in consumer.resources.items():
            for name, amount in resources.items():
                of_all.setdefault((provider, name), []).append(amount)
                if changed:
                    to_come.add((provider, name))
    return {key: amounts for key, amounts in of_all.items() if key in to_come}


_BATCH = 50


class ConsumerWriter:
    """Writes the consumers that differ, in batches. A consumer may not fit until another one has moved away. So refused
    ones are tried again as long as some of them succeed; and at last all together, since two may change places."""

    def __init__(self, api: LocalApi, theirs: Contents, ours: Contents, progress: Progress, *, prune: bool) -> None:
        self._api, self._theirs, self._ours = api, theirs, ours
        self._progress, self._prune = progress, prune
        self._deleted: set[str] = set()

    def run(self) -> list[str]:
        """Returns a line for each consumer that could not be written."""
        if self._prune:
            for uuid in self._ours.consumers.keys() - self._theirs.consumers.keys():
                self._delete(uuid)
        known = self._ours.consumers
        changed = [consumer for uuid, consumer in self._theirs.consumers.items() if known.get(uuid) != consumer]
        for consumer in changed:
            present = known.get(consumer.owner.uuid)
            if present is not None and present.owner.consumer_type is not None and consumer.owner.consumer_type is None:
                self._delete(consumer.owner.uuid)  # a type cannot be taken away by a write
        tried = self._progress("writing consumers", self._write_all(changed), len(changed))
        refused = [consumer for consumer, written in tried if not written]
        before = len(refused) + 1
        while refused and len(refused) < before:
            before = len(refused)
            refused = self._try_each(refused)
        together = [batch for batch in _batches(refused, len(refused) or 1) if not self._try(batch)]
        return [f"consumer {consumer.owner.uuid}: {self._reason(consumer)}" for batch in together for consumer in batch]

    def _write_all(self, changed: Sequence[ConsumerState]) -> Iterator[tuple[ConsumerState, bool]]:
        """Tries all, batch by batch. Yields each consumer with whether it was written."""
        for batch in _batches(changed, _BATCH):
            refused = set() if self._try(batch) else {consumer.owner.uuid for consumer in self._try_each(batch)}
            for consumer in batch:
                yield consumer, consumer.owner.uuid not in refused

    def _delete(self, uuid: str) -> None:
        self._api.send("DELETE", f"/allocations/{uuid}")
        self._deleted.add(uuid)

    def _try_each(self, consumers: Sequence[ConsumerState]) -> list[ConsumerState]:
        """Returns the refused ones."""
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
        return "was written at the last attempt; run the import again"

    def _write(self, batch: Sequence[ConsumerState]) -> None:
        typed = batch[0].owner.consumer_type is not None
        body = {consumer.owner.uuid: self._body(consumer) for consumer in batch}
        self._api.send("POST", "/allocations", body, version=TYPED if typed else TYPED - 1)

    def _body(self, consumer: ConsumerState) -> Mapping[str, Any]:
        present = None if consumer.owner.uuid in self._deleted else self._ours.consumers.get(consumer.owner.uuid)
        return {
            "allocations": {uuid: {"resources": resources} for uuid, resources in consumer.resources.items()},
            "project_id": consumer.owner.project_id,
            "user_id": consumer.owner.user_id,
            "consumer_generation": None if present is None else present.generation,
            **({} if consumer.owner.consumer_type is None else {"consumer_type": consumer.owner.consumer_type}),
        }


def _batches(consumers: Sequence[ConsumerState], size: int) -> list[list[ConsumerState]]:
    """Batches in which either all consumers have types or none has, as a request requires."""
    batches = []
    for typed in (True, False):
        of_kind = [consumer for consumer in consumers if (consumer.owner.consumer_type is not None) is typed]
        batches += [of_kind[start : start + size] for start in range(0, len(of_kind), size)]
    return batches
