"""What collectors do at regular intervals."""

from limes.collector.discover import discover
from limes.collector.follow_configuration import check_consistency
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "discovery",
        discover,
        lambda limes: limes.settings.collector.discovery_interval,
        "limes_keystone_syncs",
        "Discoveries of domains and projects",
    ),
    PeriodicJob(
        "consistency",
        check_consistency,
        lambda limes: limes.settings.collector.consistency_interval,
        "limes_cron_consistency_runs",
        "Runs of the consistency job",
    ),
)
