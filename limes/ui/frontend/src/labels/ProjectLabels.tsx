// The labels of a project, on its page. Each leads to the projects that have it, too.
import { loadLabels } from "../api/labels";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { inWords } from "../lib/submit";
import { useRights } from "../session/rights";
import { filterOf } from "./entries";
import { LabelsDialog } from "./LabelsDialog";

export function ProjectLabels({ at }: { at: Place }) {
  const rights = useRights(at);
  const labels = useLoad((signal) => loadLabels(at, signal), [at]);
  const [choices, change] = useAddress();
  if (labels.error) return <p class="problem">The labels cannot be shown: {inWords(labels.error)}</p>;
  if (!labels.data) return null;
  const entries = Object.entries(labels.data);
  const maySet = rights?.project.set_labels ?? false;
  if (entries.length === 0 && !maySet) return null;
  return (
    <section class="labels" aria-label="Labels">
      {entries.length > 0 && (
        <ul class="actions">
          {entries.map(([key, value]) => (
            <li key={key} class="tag quiet" title={textOf(key, value)}>
              <Label of={at} label={[key, value]} isLink={rights?.domain.list_projects ?? false} />
            </li>
          ))}
        </ul>
      )}
      {maySet && (
        <button class="small" onClick={() => change({ do: "labels" }, true)}>
          {entries.length > 0 ? "Edit labels" : "Add labels"}
        </button>
      )}
      {maySet && choices.do === "labels" && (
        <LabelsDialog at={at} name={nameOf(at.project ?? "")} labels={labels.data} close={() => change({ do: undefined })} changed={labels.reload} />
      )}
    </section>
  );
}

const textOf = (key: string, value: string): string => (value ? `${key}: ${value}` : key);

function Label({ of, label: [key, value], isLink }: { of: Place; label: [string, string]; isLink: boolean }) {
  const text = textOf(key, value);
  if (!isLink) return <>{text}</>;
  const query = new URLSearchParams({ label: filterOf(key, value) });
  return (
    <a href={`${pagePath({ domain: of.domain }, "/projects")}?${query}`}>
      {text}
    </a>
  );
}
