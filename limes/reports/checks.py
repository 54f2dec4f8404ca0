"""What `limes doctor` examines: whether quota overrides have an effect."""

from collections.abc import Iterator

from limes.app.context import Limes
from limes.kernel.findings import Finding, ok, warning
from limes.reports.inconsistencies import Reason, find_ineffective

_SHOWN = 10


def check_overrides(name: str, limes: Limes) -> Iterator[Finding]:
    """Quota overrides without effect, of resources whose quota grows by itself; the check of the configuration names
    the others."""
    if limes.settings.quota_overrides_path is None:
        return
    name, overrides = f"{name}.overrides", limes.overrides()
    ineffective = [each for each in find_ineffective(limes, overrides) if each.reason is not Reason.NOT_AUTOGROW]
    for each in ineffective[:_SHOWN]:
        override = each.override
        text = f"quota override {override.domain}/{override.project}: {'/'.join(override.ref)}"
        if each.reason is Reason.NO_PROJECT:
            project = f"there is no project {override.project!r} in a domain {override.domain!r}"
            yield warning(name, f"{text}: {project}", "correct the names, or remove the entry")
            continue
        resource = limes.catalog.find(override.ref)
        assert resource is not None
        show = resource.unit.render
        text += f" {show(override.quota)}: usage and commitments need {show(each.needed)}, so quota is that"
        yield warning(name, text, "raise the override, or wait until the project needs less")
    if len(ineffective) > _SHOWN:
        text = f"{len(ineffective) - _SHOWN} more quota overrides have no effect"
        yield warning(name, text, "correct the others first")
    if not ineffective:
        yield ok(name, f"quota overrides: {len(overrides)}, all for projects that exist")


CHECKS = (check_overrides,)
