// How well commitments fit what is used.
import { useRoute } from "preact-iso";
import { get } from "../api/client";
import { loadReport } from "../api/report";
import type { UtilisationAnswer } from "../api/schema";
import { Content } from "../components/Content";
import { type Column, DataTable } from "../components/DataTable";
import { Meter } from "../components/Meter";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useChoice } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf, zoneName } from "../lib/names";
import { apiPath, type Place } from "../lib/paths";
import { resourceTitle } from "../session/resources";
import { format } from "../lib/units";
import { Days } from "../utilisation/Days";
import { summarise, type Summary } from "../utilisation/summary";

const SPANS = [7, 30, 90].map((days) => ({ value: String(days), title: `${days} days` }));

export default function Utilisation() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const [span, setSpan] = useChoice("days", "30");
  const [chosen, choose] = useChoice("of", "");
  const answer = useLoad(
    (signal) => loadSummaries(at, span, signal),
    [at, span],
  );
  return (
    <Page title="Utilisation" kind={nameOf(project ?? "")} crumbs={crumbsTo(at, true)}>
      <div class="tools">
        <Select label="Over the last" value={span} options={SPANS} choose={setSpan} />
      </div>
      <Content of={answer}>
        {(rows) => {
          const one = rows.find((row) => row.key === chosen) ?? rows[0];
          return (
            <>
              <DataTable
                caption="Commitments and use by resource and availability zone"
                columns={columnsOf(one?.key, choose)}
                rows={rows}
                rowKey={(row) => row.key}
                order={{ key: "resource", isDescending: false }}
                empty={<p class="empty">There are no usage figures for resources that allow commitments.</p>}
              />
              {one && <Days key={one.key} at={at} summary={one} />}
            </>
          );
        }}
      </Content>
    </Page>
  );
}

async function loadSummaries(at: Place, days: string, signal: AbortSignal): Promise<Summary[]> {
  const [{ utilisation }, report] = await Promise.all([
    get<UtilisationAnswer>(apiPath(at, "/commitments/utilisation"), { query: { days }, signal }),
    loadReport(at, signal),
  ]);
  return utilisation.map((one) => summarise(one, report));
}

const resourceOf = ({ of }: Summary): string => resourceTitle(of.service_type, of.resource_name);

function columnsOf(chosen: string | undefined, choose: (key: string) => void): Column<Summary>[] {
  const amount = (key: string, title: string, of: (row: Summary) => number): Column<Summary> => ({
    key,
    title,
    class: "number",
    render: (row) => format(of(row), row.of.unit),
    sortBy: of,
  });
  return [
    {
      key: "resource",
      title: "Resource",
      render: resourceOf,
      sortBy: resourceOf,
      isHeader: true,
      csv: [
        { title: "Service", value: ({ of }) => of.service_type },
        { title: "Resource", value: ({ of }) => of.resource_name },
        { title: "Unit", value: ({ of }) => of.unit ?? "" },
      ],
    },
    { key: "zone", title: "Zone", render: ({ of }) => zoneName(of.availability_zone), sortBy: ({ of }) => of.availability_zone },
    amount("committed", "Committed", (row) => row.committed),
    amount("used", "Used", (row) => row.used),
    amount("unused", "Unused", (row) => row.unused),
    amount("recommended", "Recommended", (row) => row.of.recommended_amount),
    {
      key: "bar",
      title: "Use of commitments",
      class: "wide",
      render: ({ used, committed, of }) => <Meter usage={used} limit={undefined} committed={committed} unit={of.unit ?? ""} limitName="" />,
    },
    {
      key: "days",
      title: "Actions",
      isTitleHidden: true,
      class: "act",
      render: (row) => (
        <button
          class="small"
          aria-pressed={row.key === chosen}
          aria-label={`Days of ${resourceOf(row)} in ${zoneName(row.of.availability_zone)}`}
          onClick={() => choose(row.key)}
        >
          Days
        </button>
      ),
    },
  ];
}
