"""The jobs for the whole cluster: capacity, quota that follows usage, what is done at regular intervals, and the
delivery of audit events and notifications.

Each works on its claims at once, so that none has anything to give back when it is closed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from limes.actions.deliver_events import DeliverEvents, Outcome
from limes.actions.distribute_quota import DistributeQuota
from limes.actions.follow_overrides import FollowOverrides
from limes.actions.mails.send_mails import SendMails
from limes.actions.run_job import RunJob
from limes.actions.scrape_capacity import ScrapeCapacity
from limes.metrics.counters import OutcomeCounter
from limes.metrics.mails import MailCounters


@dataclass(frozen=True, slots=True)
class CapacityJob:
    """Scrapes all capacitors."""

    action: ScrapeCapacity
    scrapes: OutcomeCounter
    workers: int = 1
    name: str = "scrape-capacity"

    def step(self) -> bool:
        """Scrapes one capacitor if one is due. Returns whether there was one."""
        outcome = self.action.run_next()
        if outcome is None:
            return False
        self.scrapes.count(outcome.success, outcome.capacitor)
        return True

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class DistributionJob:
    """Computes quota that follows usage, of one resource after the other."""

    action: DistributeQuota
    distributions: OutcomeCounter
    workers: int = 1
    name: str = "distribute-quota"

    def step(self) -> bool:
        """Computes one resource if one is due. Returns whether there was one."""
        outcome = self.action.run_next()
        if outcome is None:
            return False
        self.distributions.count(outcome.success, *outcome.ref)
        return True

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class ClusterWideJob:
    """Does one thing for the whole cluster, such as a discovery, in one collector at a time."""

    action: RunJob
    runs: OutcomeCounter
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return self.action.name

    def step(self) -> bool:
        """Does it if it is due. Returns whether it was."""
        success = self.action.run_if_due()
        if success is None:
            return False
        self.runs.count(success)
        return True

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class DeliveryJob:
    """Delivers audit events or notifications to one sink. A sink that hangs delays no other one."""

    action: DeliverEvents
    count: Callable[[Outcome], None]
    """Called after each round."""
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return self.action.name

    def step(self) -> bool:
        """Delivers what waits if it is time to. Returns whether it was."""
        outcome = self.action.run_if_due()
        if outcome is None:
            return False
        self.count(outcome)
        return True

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class OverridesJob:
    """Has quota computed anew when the file of overrides has changed. Each collector looks at its own machine's file,
    so that none works with an old one."""

    action: FollowOverrides
    name: str = "quota-overrides"
    workers: int = 1

    def step(self) -> bool:
        """Looks whether the overrides have changed. Returns whether they have."""
        return self.action.run()

    def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class MailJob:
    """Sends mails to one server."""

    action: SendMails
    counters: MailCounters
    workers: int = 1

    @property
    def name(self) -> str:
        """For logs."""
        return self.action.name

    def step(self) -> bool:
        """Sends what is due if it is time to. Returns whether it was."""
        outcome = self.action.run_if_due()
        if outcome is None:
            return False
        self.counters.count(self.action.sink, outcome)
        return True

    def close(self) -> None:
        """Nothing to give back."""
