"""What `same_subtree` leaves to the slots that are still open: forward checking for the backtracking search.

Each set of slots in one subtree has a *top*: one of its providers, at or above all others. At each step, the
tops that a set can still have and the providers that its slots can still take narrow each other, until nothing changes
or a set has none left. Sets of providers are bits of an integer.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from limes.placement.search import matching, model

Fits = Callable[[int, model.Provider], bool]
"""Whether a slot could still take a provider."""


class Choices(Struct):
    domains: list[int]
    """For each slot the providers that it can take; a single one once it has taken it."""
    tops: list[int]
    """For each set the providers that can be its top."""
    filled: int = 0
    """The slots that have a provider, as bits."""


class Subtrees:
    """The sets of one request in one tree."""

    def __init__(self, rules: matching.Rules, options: matching.Options, *, crowded: bool) -> None:
        self._rules, self._crowded, self._sets = rules, crowded, rules.subtrees
        self._sets_of = [[n for n, slots in enumerate(self._sets) if slot in slots] for slot in range(len(options))]
        self.tied = [bool(sets) for sets in self._sets_of]
        """For each slot whether it is in a set."""
        providers = {p.id: p for slot, of_slot in enumerate(options) if self.tied[slot] for p in of_slot}
        self._providers = {1 << number: provider for number, provider in enumerate(providers.values())}
        self._bits = {provider.id: bit for bit, provider in self._providers.items()}
        self._below = dict.fromkeys(self._providers, 0)
        for bit, provider in self._providers.items():
            for above in provider.lineage:
                if above in self._bits:
                    self._below[self._bits[above]] |= bit
        self._options = options

    def order(self) -> list[int]:
        """Returns the slots in the order to fill them: those with few options first, and each set without a gap."""
        group = list(range(len(self._options)))
        for slots in self._sets:
            joined = {group[slot] for slot in slots}
            group = [min(joined) if number in joined else number for number in group]
        sizes = [len(of_slot) for of_slot in self._options]
        least = {
            number: min(size for size, other in zip(sizes, group, strict=True) if other == number) for number in group
        }
        return sorted(range(len(sizes)), key=lambda slot: (least[group[slot]], group[slot], sizes[slot], slot))

    def initial_choices(self) -> Choices | None:
        """Returns what is possible before anything is taken, or None if nothing is."""
        domains = [
            sum(self._bits[provider.id] for provider in of_slot) if self.tied[slot] else 0
            for slot, of_slot in enumerate(self._options)
        ]
        state = Choices(domains, [self._roomy_tops(slots, domains) for slots in self._sets])
        return state if self._refine(state, set(range(len(self._sets))), {}) else None

    def providers_for(self, slot: int, state: Choices) -> Sequence[model.Provider]:
        domain = state.domains[slot]
        if not domain & (domain - 1):
            return (self._providers[domain],)
        bits = self._bits
        return [provider for provider in self._options[slot] if domain & bits[provider.id]]

    def choices_after(
        self, state: Choices, slot: int, provider: model.Provider, fits: Fits, taken: dict[tuple[int, str], int]
    ) -> Choices | None:
        """Returns what is possible when the slot has taken the provider, or None if nothing is."""
        bit = self._bits.get(provider.id)
        if bit is None:
            return state
        domains = state.domains.copy()
        changed: set[int] = set()
        if self.tied[slot] and domains[slot] != bit:
            domains[slot] = bit
            changed.update(self._sets_of[slot])
        filled = state.filled | 1 << slot
        for other, domain in enumerate(domains):
            if domain & bit and not filled >> other & 1 and not fits(other, provider):
                if domain == bit:
                    return None
                domains[other] = domain ^ bit
                changed.update(self._sets_of[other])
        after = Choices(domains, state.tops.copy(), filled)
        return after if self._refine(after, changed, taken) else None

    def _roomy_tops(self, slots: Sequence[int], domains: Sequence[int]) -> int:
        self._rules.check_time()
        return sum(bit for bit in self._providers if self._has_room(slots, bit, domains))

    def _has_room(self, slots: Sequence[int], top: int, domains: Sequence[int]) -> bool:
        """Returns whether the providers at and below `top` have enough for all of these slots, taken together."""
        below = self._below[top]
        needed: dict[str, int] = {}
        offering: dict[str, int] = {}
        for slot in slots:
            for name, amount in self._rules.shared[slot]:
                needed[name] = needed.get(name, 0) + amount
                offering[name] = offering.get(name, 0) | (domains[slot] & below)
        return all(self._limit_of(name, offering[name], amount) >= amount for name, amount in needed.items())

    def _limit_of(self, name: str, providers: int, enough: int) -> int:
        total = 0
        while providers and total < enough:
            bit = providers & -providers
            providers ^= bit
            total += self._providers[bit].inventories[name].limit
        return total

    def _refine(self, state: Choices, pending: set[int], taken: dict[tuple[int, str], int]) -> bool:
        """Narrows tops and domains until nothing changes. Returns whether anything is still possible."""
        if not pending:
            return True
        while pending:
            self._rules.check_time()
            number = pending.pop()
            slots, domains = self._sets[number], state.domains
            tops, covered = self._possible(slots, state.tops[number], domains)
            if not tops:
                return False
            state.tops[number] = tops
            at_top = [slot for slot in slots if domains[slot] & tops]
            for slot in slots:
                left = domains[slot] & covered
                if at_top == [slot]:
                    left &= tops
                if left != domains[slot]:
                    domains[slot] = left
                    pending.update(self._sets_of[slot])
        return self._tops_have_room(state, taken)

    def _possible(self, slots: Sequence[int], tops: int, domains: Sequence[int]) -> tuple[int, int]:
        """Returns the tops that leave each of these slots a provider, and all providers at or below one of them."""
        available = 0
        for slot in slots:
            available |= domains[slot]
        remaining = tops & available
        possible = covered = 0
        alone = self._rules.isolate
        while remaining:
            top = remaining & -remaining
            remaining ^= top
            below = self._below[top]
            if alone and (available & below).bit_count() < len(slots):
                continue
            for slot in slots:
                if not domains[slot] & below:
                    break
            else:
                possible |= top
                covered |= below
        return possible, covered

    def _tops_have_room(self, state: Choices, taken: dict[tuple[int, str], int]) -> bool:
        """Returns whether each provider that is the only top left for several sets can serve one slot of each. Only
        sets without a common slot count, and only ones that have no slot there yet."""
        waiting: dict[int, list[list[int]]] = {}
        for slots, top in zip(self._sets, state.tops, strict=True):
            if top & (top - 1) or any(state.domains[slot] == top and state.filled >> slot & 1 for slot in slots):
                continue
            others = waiting.setdefault(top, [])
            if not any(slot in other for other in others for slot in slots):
                others.append(slots)
        for top, sets in waiting.items():
            if len(sets) < 2:
                continue
            if self._rules.isolate or (self._crowded and not self._can_serve(top, sets, state.domains, taken)):
                return False
        return True

    def _can_serve(
        self, top: int, sets: Sequence[Sequence[int]], domains: Sequence[int], taken: dict[tuple[int, str], int]
    ) -> bool:
        """Returns whether the provider may have enough for one slot of each set. Each slot takes a share of what is
        left of each class. All shares of one class come to 1 at most, so those of the slots with the smallest ones come
        to the number of classes at most."""
        provider = self._providers[top]
        classes: set[str] = set()
        total = 0.0
        for slots in sets:
            shares = []
            for slot in slots:
                if domains[slot] & top:
                    share = 0.0
                    for name, amount in self._rules.shared[slot]:
                        classes.add(name)
                        left = provider.inventories[name].limit - taken.get((provider.id, name), 0)
                        share += amount / left if left > 0 else 2.0
                    shares.append(share)
            total += min(shares, default=0.0)
        return total <= len(classes) + 1e-6
