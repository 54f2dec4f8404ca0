"""From when to when subresources existed: for bills by flavor and hour."""

from limes.api import parameters
from limes.api.call import Call
from limes.api.parameters import Moment, Names, WholeNumber
from limes.kernel.calendar import DAY, render_time
from limes.kernel.errors import BadRequest
from limes.lifetimes import answers, queries, record
from limes.web.call import Answer, BodyStream
from limes.web.encoding import CSV, prefers_csv, write_csv

FROM = Moment("from", "Only periods that end after this time. Not given: 30 days before `until`.")
UNTIL = Moment("until", "Only periods that begin before this time. Not given: now.")
LIMIT = WholeNumber("limit", "Maximum number of periods.", 1, 10_000, 1000)
MARKER = WholeNumber("marker", "Only periods after the one of this number: see the link to more.", 0, 2**62, 0)
SUBRESOURCE_IDS = Names("id", "Only subresources with these ids.")
DOMAINS = Names("domain_id", "Only what is in these domains.")
PROJECTS = Names("project_id", "Only what is in these projects.")
AZS = Names("availability_zone", "Only what is in these availability zones.")


_DEFAULT_DAYS = 30


def list_lifetimes(call: Call) -> Answer:
    """Lists from when to when subresources of all projects existed, as JSON or CSV.

    Without `from`, of the last 30 days."""
    call.refuse_unknown_parameters()
    now = call.limes.now()
    since, until = _window(call, int(now))
    # up to the present means up to this moment, and not up to the beginning of this second
    before = now if until == int(now) else until
    chosen = {
        parameter.name: values
        for parameter in call.operation.parameters
        if isinstance(parameter, parameters.Names) and (values := parameter.of(call.req)) is not None
    }
    filters = {name: values for name, values in chosen.items() if name in queries.FILTERS}
    if (services := call.service_types()) is not None:
        filters["service"] = services
    wanted = queries.LifetimeFilter(
        since, before, call.place.domain_uuid or None, call.place.project_uuid or None, filters
    )
    limit = LIMIT.of(call.req)
    rows = record.show_lifetimes(call.limes, wanted, MARKER.of(call.req), limit)
    links = call.next_link(str(rows[-1].number)) if len(rows) == limit else []
    headers = {"vary": "Accept"}
    if prefers_csv(call.req.get_header("Accept")):
        # a spreadsheet has no place for a link, so it is a header (RFC 8288)
        if links:
            headers["link"] = f'<{links[0].href}>; rel="next"'
        stream = BodyStream(write_csv(answers.CSV_HEADER, answers.csv_rows(rows, since, until)))
        return Answer(stream=stream, media_type=CSV, headers=headers)
    shown = [answers.render_lifetime(row, since, until) for row in rows]
    document = answers.LifetimesAnswer(since=since, until=until, subresources=shown, subresources_links=links)
    return Answer(document=document, headers=headers)


def _window(call: Call, now: int) -> tuple[int, int]:
    """Returns `from` and `until`, or their defaults. Raises `BadRequest`."""
    kept_since = max(0, now - int(call.limes.settings.subresource_lifetimes.retention))
    end, begin = UNTIL.of(call.req), FROM.of(call.req)
    until = now if end is None else min(now, end)
    since = max(kept_since, until - _DEFAULT_DAYS * DAY) if begin is None else begin
    if since < kept_since or until < kept_since:
        days = int(call.limes.settings.subresource_lifetimes.retention) // DAY
        name = "until" if since >= kept_since else "from"
        earliest = render_time(kept_since)
        raise BadRequest(f"query parameter {name}: lifetimes are kept for {days} days; expected {earliest} or later")
    if since >= until:
        latest = "now" if until == now else "`until`"
        raise BadRequest(f"query parameter from: expected a time before {latest}, which is {render_time(until)}")
    return since, until
