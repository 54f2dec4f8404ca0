// Services and capacitors, each with its state and the age of its figures.
import type { ScrapeStatus } from "../api/schema";
import { type Column, DataTable } from "../components/DataTable";
import { StateIcon, StateMark } from "../components/StateMark";
import { isoTime } from "../lib/csv";
import { formatTime, relative } from "../lib/time";
import { type Backend, backendsOf } from "./backends";

export function BackendTable({ status }: { status: ScrapeStatus }) {
  return (
    <DataTable
      caption={status.capacitors ? "Services and capacitors" : "Services"}
      columns={COLUMNS}
      rows={backendsOf(status)}
      rowKey={(one) => `${one.kind} ${one.name}`}
      order={{ key: "state", isDescending: true }}
      orderKey="backends"
      empty={<p class="empty">No service is configured.</p>}
    />
  );
}

const COLUMNS: Column<Backend>[] = [
  { key: "name", title: "Name", isHeader: true, sortBy: (one) => one.name, render: (one) => one.name },
  { key: "kind", title: "Kind", sortBy: (one) => one.kind, render: (one) => one.kind },
  {
    key: "state",
    title: "State",
    class: "wide",
    sortBy: (one) => one.urgency,
    csv: [{ title: "State", value: (one) => one.problem ?? "works" }],
    render: (one) =>
      one.problem ? (
        <StateMark state="over" text={one.problem} />
      ) : (
        <>
          <StateIcon state="ok" /> {one.checkedAt === undefined && one.oldest === undefined ? "not looked at yet" : "works"}
        </>
      ),
  },
  { key: "oldest", title: "Oldest figures", sortBy: (one) => one.oldest ?? 0, render: (one) => moment(one.oldest), csv: [{ title: "Oldest figures", value: (one) => isoTime(one.oldest) }] },
  { key: "checked", title: "Last tried", sortBy: (one) => one.checkedAt ?? 0, render: (one) => moment(one.checkedAt), csv: [{ title: "Last tried", value: (one) => isoTime(one.checkedAt) }] },
];

function moment(at: number | undefined) {
  return at === undefined ? <span class="muted">–</span> : <span title={formatTime(at)}>{relative(at)}</span>;
}

/** What capacitors have said, in full. */
export function CapacitorErrors({ status: { capacitors = [] } }: { status: ScrapeStatus }) {
  return (
    <>
      {capacitors.map(
        ({ id, message }) =>
          message && (
            <section key={id} class="capacitor-error">
              <h3>Capacitor {id}</h3>
              <p class="message-text">{message}</p>
            </section>
          ),
      )}
    </>
  );
}
