// The commitments of a project: filters, table, and what is chosen for a merge.
import { useState } from "preact/hooks";
import type { Commitment } from "../api/schema";
import { DataTable } from "../components/DataTable";
import { Field } from "../components/Field";
import { type Option, Select } from "../components/Select";
import { useAddress } from "../lib/address";
import { zoneName } from "../lib/names";
import { resourceTitle } from "../session/resources";
import { columns } from "./columns";
import { filtered, isLive, mergeProblem, occurring, resourceOf } from "./rules";

interface Props {
  commitments: Commitment[];
  mayEdit: boolean;
}

const STATES = ["planned", "pending", "confirmed"];
const ENDED = ["superseded", "expired"];
const options = (all: string, values: string[], title = (value: string) => value): Option[] => [
  { value: "", title: all },
  ...values.map((value) => ({ value, title: title(value) })),
];

const resourceTitleOf = (key: string): string => resourceTitle(...(key.split("/") as [string, string]));

export function CommitmentList({ commitments: all, mayEdit }: Props) {
  const [choices, change] = useAddress();
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { resource = "", zone = "", status = "", search: text = "", history } = choices;
  const isWithHistory = history !== undefined;
  const commitments = isWithHistory ? all : all.filter(isLive);
  const shown = filtered(commitments, { resource, zone, status, text });
  const selected = commitments.filter((one) => chosen.has(one.id));
  const problem = mergeProblem(selected);

  function toggle(id: number): void {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  }

  return (
    <>
      <div class="tools">
        <Select
          label="Resource"
          value={resource}
          options={options("All resources", occurring(commitments, resourceOf), resourceTitleOf)}
          choose={(value) => change({ resource: value })}
        />
        <Select
          label="Zone"
          value={zone}
          options={options("All", occurring(commitments, (one) => one.availability_zone), zoneName)}
          choose={(value) => change({ zone: value })}
        />
        <Select
          label="State"
          value={status}
          options={[...options("All", [...STATES, ...(isWithHistory ? ENDED : [])]), { value: "offered", title: "offered for transfer" }]}
          choose={(value) => change({ status: value })}
        />
        <Field label="Search" name="search" type="search" value={text} onInput={(value) => change({ search: value })} />
        <label class="check">
          <input
            type="checkbox"
            checked={isWithHistory}
            onChange={(event) => change({ history: event.currentTarget.checked ? "1" : undefined })}
          />
          Include ended commitments
        </label>
        <p class="muted" role="status">
          {shown.length === commitments.length ? `${shown.length} in all` : `${shown.length} of ${commitments.length}`}
        </p>
      </div>
      {selected.length > 0 && (
        <div class="selection" role="status">
          <button disabled={problem !== undefined} onClick={() => change({ do: "merge", ids: selected.map((one) => one.id).join(",") }, true)}>
            Merge {selected.length} chosen
          </button>
          <button class="quiet" onClick={() => setChosen(new Set())}>
            Choose none
          </button>
          {problem && <span class="muted">{problem}</span>}
        </div>
      )}
      <DataTable
        caption="Commitments"
        columns={columns((id) => change({ do: "manage", id: String(id) }, true), mayEdit ? { chosen, toggle } : undefined)}
        rows={shown}
        rowKey={(one) => String(one.id)}
        order={{ key: "id", isDescending: true }}
        empty={<p class="empty">{commitments.length === 0 ? "This project has no commitments." : "No commitment matches."}</p>}
      />
    </>
  );
}
