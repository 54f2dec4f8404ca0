// The first rows of a usage report, in hours, as people read them. The file has amount-seconds, which are exact.
import { useState } from "preact/hooks";
import { loadPreview } from "../api/usageReports";
import type { UsageEntry } from "../api/schema";
import { Content } from "../components/Content";
import { TableFrame } from "../components/TableFrame";
import { useLoad } from "../lib/load";
import { resourceTitle, zoneName } from "../lib/names";
import type { Place } from "../lib/paths";
import { formatUtcTime } from "../lib/time";
import { hoursText, PREVIEWED, previewOf } from "./hours";
import type { Wanted } from "./choice";

export function Preview({ at, wanted }: { at: Place; wanted: Wanted }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="action" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Preview</summary>
      {isOpen && <First at={at} wanted={wanted} />}
    </details>
  );
}

function First({ at, wanted }: { at: Place; wanted: Wanted }) {
  const first = previewOf(wanted);
  const loaded = useLoad((signal) => loadPreview(at, first.wanted, first.projects, signal), [at, wanted]);
  return <Content of={loaded}>{(entries) => (entries.length > 0 ? <Rows entries={entries.slice(0, PREVIEWED)} /> : <p>Nothing was used or committed in this time.</p>)}</Content>;
}

const AMOUNTS = [
  ["used", "Used"],
  ["committed", "Committed"],
  ["beyond_commitments", "Beyond commitments"],
] as const;

function Rows({ entries }: { entries: UsageEntry[] }) {
  const caption = "First rows of the report";
  return (
    <>
      <p class="hint">
        Amount-hours: 3 cores for two hours are 6 h, 2 GiB for three hours 6 GiB h. The file has amount-seconds, 3600 for each of these.
      </p>
      <TableFrame caption={caption}>
        <table class="wrapped">
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {["Project", "Resource", "Zone", "From"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              {AMOUNTS.map(([, title]) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map((one, index) => (
              <tr key={index}>
                <th scope="row">{one.project.name}</th>
                <td>{resourceTitle(one.service_type, one.resource_name)}</td>
                <td>{zoneName(one.availability_zone ?? "all zones")}</td>
                <td>{formatUtcTime(one.from)}</td>
                {AMOUNTS.map(([key]) => (
                  <td key={key} class="number">
                    {hoursText(one[key], one.unit)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </>
  );
}
