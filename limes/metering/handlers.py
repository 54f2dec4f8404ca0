"""What was used and committed over time: for bills."""

from collections.abc import Generator
from contextlib import closing

from limes.api import parameters
from limes.api.call import Call
from limes.api.parameters import Choice, Moment, Names, Text, WholeNumber
from limes.kernel import calendar, errors
from limes.metering import answers, entries, report, source_queries
from limes.web.call import Answer, BodyStream
from limes.web.encoding import CSV, dump_part, prefers_csv

FROM = Moment("from", "The beginning: that of an hour, a day or a month, as `granularity` says. Required.")
UNTIL = Moment("until", "The end, which is not included. Not given: the end of the present hour, day or month.")
AS_OF = Moment("as_of", "The figures as they were at this time, without later corrections. Only of closed days.")
GRANULARITY = Choice(
    "granularity",
    "One entry for each hour, day or month, or one for all of the time.",
    ("hour", "day", "month", "total"),
    "month",
)
PROJECTS = Names("project_id", "Only what these projects have used.")
DOMAINS = Names("domain_id", "Only what projects of these domains have used.")
AZS = Names("availability_zone", "Only what was used in these availability zones. Goes with `per_az` only.")
LIMIT = WholeNumber("limit", "Maximum number of projects. The answer links to the next page.", 1, 20_000)
MARKER = Text("marker", "Only projects after the one of this id.")


Parts = Generator[answers.Part, None, None]


def report_usage(call: Call) -> Answer:
    """Reports what all projects have used and committed to over time, as JSON or CSV."""
    if call.place.domain_uuid:
        report.require_known(call.limes, call.place)
    call.refuse_unknown_parameters()
    query = _query(call)
    page = report.find_page(call.limes, query)
    links = call.next_link(page.next) if page.next is not None else []
    # a spreadsheet has no place for these, so they are headers, too (the link: RFC 8288)
    headers = {"vary": "Accept", "x-limes-metering-began-at": str(page.state.begun_at)}
    if links:
        headers["link"] = f'<{links[0].href}>; rel="next"'
    parts = report.read_parts(call.limes, page)
    if prefers_csv(call.req.get_header("Accept")):
        return Answer(stream=BodyStream(_csv(call, parts)), media_type=CSV, headers=headers)
    return Answer(stream=BodyStream(_json(call, page, parts, links)), headers=headers)


def _csv(call: Call, parts: Parts) -> Generator[bytes, None, None]:
    writer = answers.UsageWriter(call.catalog)
    with closing(parts):
        yield writer.csv_header()
        for part in parts:
            yield writer.csv(part)


def _json(call: Call, page: report.UsagePage, parts: Parts, links: object) -> Generator[bytes, None, None]:
    """Renders one entry a line."""
    query = page.query
    head = {
        "metering_began_at": page.state.begun_at,
        "from": query.begin,
        "until": query.end,
        "granularity": query.granularity.value,
    }
    separator, writer = b"\n", answers.UsageWriter(call.catalog)
    with closing(parts):
        yield b'{"usage_report":' + dump_part(head)[:-1] + b',"entries":['
        for part in parts:
            if lines := writer.json(part):
                yield separator + lines
                separator = b",\n"
        yield b'\n],"links":' + dump_part(links) + b"}}\n"


def _query(call: Call) -> entries.UsageQuery:
    granularity = calendar.Granularity(GRANULARITY.of(call.req))
    begin, end = FROM.of(call.req), UNTIL.of(call.req)
    if begin is None:
        raise errors.BadRequest("query parameter from: expected the time from which the account is wanted")
    if end is None:
        end = calendar.bucket_of(int(call.limes.now()), granularity).end
    every_az, azs = parameters.PER_AZ.of(call.req), AZS.of(call.req)
    if azs is not None and not every_az:
        raise errors.BadRequest("query parameter availability_zone: expected together with per_az")
    domain, project = call.place.domain_uuid, call.place.project_uuid
    return entries.UsageQuery(
        begin,
        end,
        granularity,
        domains=[domain] if domain else DOMAINS.of(call.req),
        projects=[project] if project else PROJECTS.of(call.req),
        only=source_queries.MeterFilter(call.service_types(), parameters.RESOURCE.of(call.req), azs),
        marker=MARKER.of(call.req) or "",
        limit=LIMIT.of(call.req) or None,
        as_of=AS_OF.of(call.req),
        every_az=every_az,
    )
