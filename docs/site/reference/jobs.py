"""What collectors do at regular intervals, from the features' lists."""

from types import SimpleNamespace
from typing import Any

from limes.app.features import files
from limes.app.settings import processes
from limes.metering.settings import MeteringSettings
from limes.projects.claims import PeriodicJob
from reference.markdown import code, table

_HEAD = """# Periodic jobs

Made from the `jobs` of each feature. One of all collectors does each of them when it is due. What collectors do
besides, such as scrapes and writes of quota, is in [the collector](../collector.md).
"""


class _Recorder:
    """Settings with their defaults, which note what is read."""

    def __init__(self, values: Any, path: str, read: list[str]) -> None:
        self._values, self._path, self._read = values, path, read

    def __getattr__(self, name: str) -> Any:
        self._read.append(f"{self._path}.{name}")
        return getattr(self._values, name)


def render() -> str:
    """The whole page."""
    jobs: list[tuple[str, PeriodicJob]] = [(file.__name__, job) for file in files("jobs") for job in file.JOBS]
    rows = (
        (code(job.name), module.split(".")[1], _about(job), _interval(job), code(job.counter))
        for module, job in sorted(jobs, key=lambda each: each[1].name)
    )
    return "\n".join([_HEAD, *table(("job", "feature", "what it does", "every", "counter of its runs"), rows)])


def _about(job: PeriodicJob) -> str:
    text = job.help.removeprefix("Runs of the job that ").removeprefix("Runs of the ")
    text = text[:1].upper() + text[1:]
    only = "" if len(job.dialects) > 1 else f" Only on {job.dialects[0].replace('postgresql', 'PostgreSQL')}."
    return f"{text}.{only}"


def _interval(job: PeriodicJob) -> str:
    read: list[str] = []
    settings = SimpleNamespace(
        collector=_Recorder(processes.CollectorSettings(), "collector", read),
        metering=_Recorder(MeteringSettings(), "metering", read),
    )
    seconds = job.every(SimpleNamespace(settings=settings))  # type: ignore[arg-type]  # it reads only these
    return f"{code(read[0])} ({seconds:g} s)" if read else f"{seconds:g} s"
