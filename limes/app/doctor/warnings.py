"""What the configuration says without effect: it does not prevent a start, and is a slip as a rule."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from keystoneauth1.exceptions import ClientException

from limes.app.context import Cluster
from limes.app.settings import Settings
from limes.app.settings.rules import Names
from limes.catalog.catalog import Catalog, Ref
from limes.kernel import errors, units
from limes.kernel.validation.problems import did_you_mean
from limes.lifetimes.rules import followed_resources
from limes.notifications.mail.templates import KINDS, MailContext, RenderError, Templates, sample
from limes.notifications.settings import MailSettings
from limes.requests.rules import AutoApprovalRule

_SHOWN = 5


def configuration_warnings(settings: Settings, cluster: Cluster) -> Iterator[str]:
    """Yields what has no effect: references that name nothing, and rules that never apply. Also quota that is to grow
    by itself, and cannot."""
    catalog = cluster.catalog
    reported: dict[str, list[Ref] | None] = {}
    for capacitor in settings.capacitors:
        try:
            reported[capacitor.id] = list(cluster.backends.capacity[capacitor.id].resources())
        except (errors.BackendError, ClientException):
            reported[capacitor.id] = None  # it has to be asked for them, and does not answer: the doctor says so
    yield from _unmatched(settings, catalog)
    yield from _capacitors(settings, catalog, reported)
    yield from _distribution(settings, catalog, reported)
    yield from _set_by_people(settings, cluster)
    yield from _lifetimes(settings, catalog)
    yield from _approvals(cluster.auto_approval, catalog)


def _unmatched(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Regular expressions that are to match the whole of `service/resource`, and match none."""
    refs = ["/".join(ref) for ref in catalog.refs()]
    for key, entries in (
        ("resource_behavior", settings.resource_behavior),
        ("subresource_lifetimes.resources", settings.subresource_lifetimes.resources),
        ("quota_distribution_configs", settings.quota_distribution_configs),
        ("quota_requests.auto_approval", settings.quota_requests.auto_approval),
    ):
        for index, pattern in enumerate(entry.resource for entry in entries):
            if not any(pattern.fullmatch(ref) for ref in refs):
                hint = did_you_mean(pattern.pattern, refs)
                text = f"{pattern.pattern!r} matches no resource, so this entry has no effect{hint}"
                yield f"{key}[{index}].resource: {text}"


def _capacitors(settings: Settings, catalog: Catalog, reported: Mapping[str, list[Ref] | None]) -> Iterator[str]:
    """Capacity that is dropped, as nothing of that name is configured; and capacity that two capacitors report."""
    names = Names(catalog)
    reporters: dict[Ref, list[str]] = defaultdict(list)
    for index, capacitor in enumerate(settings.capacitors):
        refs = reported[capacitor.id] or []
        for text in dict.fromkeys(names.problem(ref, ", so its capacity is not used") for ref in refs):
            if text is not None:
                yield f"capacitors[{index}] ({capacitor.id}): {text}"
        for ref in refs:
            reporters[ref].append(capacitor.id)
    for ref, ids in reporters.items():
        if len(ids) > 1:
            yield f"capacitors: {' and '.join(ids)} report the capacity of {'/'.join(ref)}; the last report counts"


def _distribution(settings: Settings, catalog: Catalog, reported: Mapping[str, list[Ref] | None]) -> Iterator[str]:
    """What has no effect in `quota_distribution_configs`. What matches no resource at all is not repeated."""
    known = {ref for refs in reported.values() for ref in refs or ()}
    all_known = None not in reported.values()
    taken: set[Ref] = set()
    for index, entry in enumerate(settings.quota_distribution_configs):
        matched = {ref for ref in catalog.refs() if entry.resource.fullmatch("/".join(ref))}
        own = matched - taken
        taken |= matched
        path = f"quota_distribution_configs[{index}].resource: {entry.resource.pattern!r}"
        if matched and not own:
            yield f"{path} matches only what an entry before it matches, so this entry has no effect"
        if entry.autogrow is None or not own:
            continue
        with_quota = {ref for ref in own if catalog.tracks_quota(ref)}
        if not with_quota:
            yield f"{path} matches only resources without quota ({_list(own)}), so this entry has no effect"
        elif all_known and not entry.autogrow.allow_quota_overcommit and (without := with_quota - known):
            text = f"no capacitor reports the capacity of {_list(without)}"
            advice = "configure a capacitor, or allow_quota_overcommit"
            yield f"{path}: {text}, so quota does not grow beyond usage and commitments; {advice}"


def _list(refs: set[Ref]) -> str:
    names = sorted("/".join(ref) for ref in refs)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _set_by_people(settings: Settings, cluster: Cluster) -> Iterator[str]:
    """What is configured for quota that people set, of resources where nobody does; and the other way round."""

    def grows(ref: Ref) -> bool:
        return cluster.catalog.autogrow(ref) is not None

    text = "quota of {}/{} grows by itself (model autogrow)"
    limits = settings.lowpriv_raise.limits
    for level, by_service in (("projects", limits.projects), ("domains", limits.domains)):
        for ref in ((service, name) for service, by_name in by_service.items() for name in by_name):
            if grows(ref):
                path = f"lowpriv_raise.limits.{level}.{'.'.join(ref)}"
                yield f"{path}: {text.format(*ref)}, so this limit has no effect"
    for domain, by_ref in cluster.constraints.domains.items():
        for ref in filter(grows, by_ref):
            path = f"constraints: domains.{domain}.{'.'.join(ref)}"
            yield f"{path}: {text.format(*ref)}, so domains have none of their own to constrain"
    for entry in cluster.overrides().items():
        if not grows(entry.ref):
            why = f"people set quota of {'/'.join(entry.ref)} (model hierarchical), so this override has no effect"
            yield f"quota overrides: {entry.domain}.{entry.project}.{'.'.join(entry.ref)}: {why}"


def _lifetimes(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """What is followed in vain: resources whose plugins are not told to report subresources."""
    plugins = {service.service_type: service.type for service in settings.services}
    for ref in followed_resources(catalog, settings.subresource_lifetimes.resources):
        resource = catalog.find(ref)
        # backends of the plugin `liquid` do not say whether they report subresources
        if plugins.get(ref[0]) != "liquid" and resource is not None and not resource.billed_attributes:
            yield (
                f"subresource_lifetimes: {'/'.join(ref)} is followed, but its plugin names no attributes to bill"
                f" (are subresources switched on in the params of service {ref[0]!r}?)"
            )


def _approvals(rules: Sequence[AutoApprovalRule], catalog: Catalog) -> Iterator[str]:
    """Rules of `quota_requests.auto_approval` that can never approve anything, but match a resource."""
    for index, rule in enumerate(rules):
        matched = [ref for ref in catalog.refs() if rule.resource.fullmatch("/".join(ref))]
        with_quota = [ref for ref in matched if catalog.tracks_quota(ref)]
        path = f"quota_requests.auto_approval[{index}] ({rule.name})"
        if not matched:
            continue
        if not with_quota:
            yield f"{path}: {rule.resource.pattern!r} matches only resources without quota, so this rule has no effect"
        elif not any(rule.limit(catalog.unit_of(ref)) for ref in with_quota):
            yield f"{path}: up_to is 0, so this rule approves nothing"
        else:
            earlier = [
                next((one.name for one in rules[:index] if _covers(one, rule, ref, catalog.unit_of(ref))), "")
                for ref in with_quota
            ]
            if all(earlier):
                names = " and ".join(dict.fromkeys(earlier))
                yield f"{path}: whatever it approves, {names} before it approves already, so this rule has no effect"


def _covers(rule: AutoApprovalRule, later: AutoApprovalRule, ref: Ref, unit: units.Unit) -> bool:
    """Returns whether a rule approves what a later one does, of a resource. One with `every` does not always."""
    percent, other_percent = rule.up_to_percent, later.up_to_percent
    return (
        rule.resource.fullmatch("/".join(ref)) is not None
        and (rule.scope is None or (later.scope is not None and rule.scope.pattern == later.scope.pattern))
        and rule.limit(unit) >= later.limit(unit)
        and (percent is None or (other_percent is not None and percent >= other_percent))
        and (rule.used_above is None or (later.used_above is not None and rule.used_above <= later.used_above))
        and rule.every is None
    )


def template_problems(mail: MailSettings) -> list[str]:
    """Returns what is wrong with an operator's templates and languages. Mails are sent all the same, with our texts."""
    templates = Templates(mail.templates, mail.language)
    known = templates.languages()
    of_rules = [*(rule.language for rule in mail.languages), *(rule.language for rule in mail.recipients)]
    asked = [mail.language, *(language for language in of_rules if language)]
    problems = [
        f"notifications.mail: there are no templates for the language {language!r}, so mails are in {mail.language!r}"
        for language in dict.fromkeys(asked)
        if language not in known and language.partition("-")[0] not in known
    ]
    if mail.templates is not None and not mail.templates.is_dir():
        problems.append(f"notifications.mail.templates: {mail.templates} is no folder")
    elif mail.templates is not None:
        problems += [
            problem
            for language in known
            for kind in KINDS
            for count in (1, 2)
            if (problem := _problem_of(templates, kind, language, count))
        ]
    return list(dict.fromkeys(problems))


def _problem_of(templates: Templates, kind: str, language: str, count: int) -> str:
    around = MailContext("https://example.com", "https://example.com")
    try:
        templates.render(kind, language, [sample(kind)] * count, around, strict=True)
    except RenderError as error:
        return f"notifications.mail.templates: {error}"
    return ""
