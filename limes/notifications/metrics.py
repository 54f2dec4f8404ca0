"""What metrics say of deliveries and mails."""

from collections.abc import Iterable

from prometheus_client.core import UntypedMetricFamily

from limes.app.context import Limes
from limes.kernel.metrics import Counts, Family, Samples, shows
from limes.notifications import deliver, queries, send_mails, settings

_DELIVERED, _FAILED = "limes_successful_auditevent_publish", "limes_failed_auditevent_publish"

_MAILS, _MAIL_OUTCOMES = "limes_mails", ("sent", "dropped", "retried", "unreachable")


class AuditCounters(Counts):
    """Deliveries of audit events by sink. How many wait is in `limes.reports.metrics`."""

    def __init__(self, sinks: Iterable[str]) -> None:
        delivered = Family(_DELIVERED, "Audit events delivered to a sink", ("sink",), UntypedMetricFamily)
        help_text = "Failed attempts to deliver audit events; each is repeated"
        failed = Family(_FAILED, help_text, ("sink",), UntypedMetricFamily)
        super().__init__(delivered, failed, known=[(sink,) for sink in sinks])

    def count(self, sink: str, outcome: deliver.DeliveryResult) -> None:
        """Adds the outcome of one round of deliveries. A sink that did not answer counts as one failure."""
        self.add(_DELIVERED, (sink,), outcome.delivered)
        self.add(_FAILED, (sink,), outcome.refused + (1 if outcome.failed else 0))


class MailCounters(Counts):
    def __init__(self, sinks: Iterable[str]) -> None:
        help_text = "Mails by what became of a try; unreachable counts tries to reach the server"
        family = Family(_MAILS, help_text, ("sink", "outcome"), UntypedMetricFamily)
        super().__init__(family, known=[(sink, outcome) for sink in sinks for outcome in _MAIL_OUTCOMES])

    def count(self, sink: str, outcome: send_mails.MailRound) -> None:
        numbers = (outcome.sent, outcome.dropped, outcome.retried, int(outcome.error is not None))
        for name, number in zip(_MAIL_OUTCOMES, numbers, strict=True):
            self.add(_MAILS, (sink, name), number)


@shows(
    Family("limes_mails_waiting", "Mails that are made, and that the server has not taken yet", ("sink",)),
    Family(
        "limes_mails_age_seconds",
        "Age of the oldest mail that the server has not taken yet; 0 if there is none",
        ("sink",),
    ),
)
def mail_gauges(limes: Limes) -> Samples:
    """The configured sinks are always there."""
    rows = limes.engine.snapshot(lambda: queries.backlogs(limes.engine))
    backlogs = {row.sink: (row.mails, row.since) for row in rows}
    now = limes.now()
    for sink in sorted(
        {*backlogs, *(name for name in limes.settings.notifications.sinks if name in settings.MAIL_SINKS)}
    ):
        number, since = backlogs.get(sink, (0, None))
        yield "limes_mails_waiting", (sink,), number
        yield "limes_mails_age_seconds", (sink,), 0.0 if since is None else max(0.0, now - since)


GAUGES = (mail_gauges,)
