// Limits how far quota grows by itself, or stops that: of a project, or of all projects of a domain.
import { type Bound, saveBound } from "../api/growth";
import { type Figures, keyOf } from "../api/report";
import { Commands } from "../commands/Commands";
import { boundingGrowth } from "../commands/growth";
import { Dialog } from "../components/Dialog";
import { Field } from "../components/Field";
import { useDraft } from "../lib/drafts";
import { readable } from "../lib/messages";
import { notify } from "../lib/notices";
import { levelOf, pagePath, type Place } from "../lib/paths";
import { useSubmit } from "../lib/submit";
import { format } from "../lib/units";
import { limitOf, limitText, readLimit } from "./bounds";

export type Kind = "limit-growth" | "stop-growth" | "allow-growth";

interface Props {
  kind: Kind;
  place: Place;
  /** Whose quota it is. */
  name: string;
  figures: Figures;
  close: () => void;
  changed: () => void;
}

export const TITLES: Record<Kind, string> = { "limit-growth": "Limit growth", "stop-growth": "Stop growth", "allow-growth": "Let it grow again" };

const TEXTS: Record<Exclude<Kind, "limit-growth">, string> = {
  "stop-growth": "The quota is then only what usage and commitments need. It goes down when they need less.",
  "allow-growth": "The quota then grows again with usage and commitments.",
};

export function GrowthDialog({ kind, place, name, figures, close, changed }: Props) {
  const isDomain = levelOf(place) === "domain";
  const [text, setText] = useDraft(`${kind} ${pagePath(place)} ${keyOf(figures)}`, limitText(figures));
  const { isBusy, problem, run } = useSubmit();
  const reading = readLimit(text, figures);
  const bound = boundOf(kind, reading.limit);
  const isSame = kind === "limit-growth" && !isDomain && (reading.limit ?? undefined) === limitOf(figures);

  const isUnlimiting = kind === "limit-growth" && reading.limit === null && (isDomain || limitOf(figures) !== undefined);

  async function save(wanted: Bound): Promise<void> {
    const remark = await saveBound(place, figures, wanted);
    notify(readable(remark) || `Saved. The quota of ${figures.title} follows in a moment.`, remark ? "warning" : "good");
    close();
    changed();
  }

  return (
    <Dialog title={`${TITLES[kind]}: ${figures.title} of ${name}`} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (bound && !isBusy && !isSame) void run(() => save(bound));
        }}
      >
        {isDomain && <p>This applies to each project that the domain has now. Projects that come later grow without it.</p>}
        {kind === "limit-growth" ? (
          <Field
            label="Largest quota"
            name="limit"
            value={text}
            autocomplete="off"
            autofocus
            isInvalid={reading.problem !== undefined}
            hint={reading.problem ?? `Empty: no limit. Usage and commitments are covered even beyond it; now ${format(figures.usage, figures.unit)} are used.`}
            onInput={setText}
          />
        ) : (
          <p>{TEXTS[kind]}</p>
        )}
        <Commands of={bound && !isSame ? boundingGrowth(place, figures, bound, figures.unit) : undefined} />
        <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
        <footer class="dialog-foot">
          <button class="primary" disabled={isBusy || !bound || isSame}>
            {isUnlimiting ? "Take the limit away" : TITLES[kind]}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function boundOf(kind: Kind, limit: number | null | undefined): Bound | undefined {
  if (kind !== "limit-growth") return { forbid_autogrowth: kind === "stop-growth" };
  return limit === undefined ? undefined : { max_quota: limit };
}
