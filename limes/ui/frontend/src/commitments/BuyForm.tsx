// Buys a commitment, with the API's verdict while one fills in, and plans one that cannot be had yet.
import { useMemo } from "preact/hooks";
import { buy } from "../api/commitments";
import type { Commitment } from "../api/schema";
import { Commands } from "../commands/Commands";
import { buying } from "../commands/commitments";
import { Field } from "../components/Field";
import { Select } from "../components/Select";
import { useDraft } from "../lib/drafts";
import { zoneName } from "../lib/names";
import type { Place } from "../lib/paths";
import { newKey, useSubmit } from "../lib/submit";
import { format, formatExact } from "../lib/units";
import { PlanResult } from "./PlanResult";
import type { Offer } from "./offers";
import { useVerdict } from "./verdict";
import { localOf } from "../lib/time";
import { fitting, readPurchase, type Purchase } from "./purchase";

interface Props {
  at: Place;
  offers: Offer[];
  /** The project's commitments: the last choice is proposed again. */
  commitments: Commitment[];
  /** What the address proposes. */
  proposal: Partial<Purchase>;
  bought: (commitment: Commitment) => void;
}

const EMPTY: Purchase = { resource: "", zone: "", duration: "", amount: "", confirmBy: "", renews: false };
const plain = (value: string) => ({ value, title: value });

export function BuyForm({ at, offers, commitments, proposal, bought }: Props) {
  const [typed, setTyped] = useDraft<Purchase>("purchase", { ...EMPTY, ...proposal });
  const offer = offers.find((one) => one.key === typed.resource) ?? offers[0]!;
  const purchase = fitting(typed, offer, commitments);
  const { wanted, problem: unreadable } = readPurchase(purchase, offer);
  const verdict = useVerdict(at, wanted);
  const key = useMemo(newKey, [JSON.stringify(wanted)]);
  const { isBusy, problem, run } = useSubmit();
  const isGood = wanted !== undefined && verdict.state === "answered" && verdict.isPossible !== false;
  const set = (change: Partial<Purchase>): void => setTyped({ ...purchase, ...change });

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood && !isBusy) void run(async () => bought(await buy(at, wanted, key)));
      }}
    >
      <div class="fields">
        <Select
          label="Resource"
          value={offer.key}
          options={offers.map((one) => ({ value: one.key, title: one.title, group: one.service }))}
          choose={(resource) => set({ resource })}
        />
        <Select
          label="Availability zone"
          value={purchase.zone}
          options={offer.zones.map((value) => ({ value, title: zoneName(value) }))}
          choose={(zone) => set({ zone })}
        />
        <Field
          label="Amount"
          name="amount"
          value={purchase.amount}
          autocomplete="off"
          autofocus
          isInvalid={unreadable !== undefined}
          hint={unreadable ?? (offer.unit ? `Such as 200 GiB; counted in ${offer.unit}` : "A whole number")}
          onInput={(amount) => set({ amount })}
        />
        <Select label="Duration" value={purchase.duration} options={offer.durations.map(plain)} choose={(duration) => set({ duration })} />
      </div>
      <When purchase={purchase} offer={offer} set={set} />
      <label class="check">
        <input type="checkbox" name="auto-renew" checked={purchase.renews} onChange={() => set({ renews: !purchase.renews })} />
        Renew automatically before it ends
      </label>
      <PlanResult
        verdict={unreadable ? { state: "none" } : verdict}
        unit={offer.unit}
        takeAmount={(amount) => set({ amount: formatExact(amount, offer.unit) })}
        takeTime={(seconds) => set({ confirmBy: localOf(seconds) })}
      />
      <p class="hint">
        A confirmed commitment binds: until it ends, it cannot be cancelled or made smaller, only given to another project or converted.
      </p>
      <Commands of={wanted && buying(at, wanted, offer.unit)} />
      <div role="alert">{problem && <p class="problem">{problem}</p>}</div>
      <footer class="dialog-foot">
        <button class="primary" disabled={!isGood || isBusy}>
          {isBusy ? "Buying…" : label(wanted?.amount, purchase, offer)}
        </button>
      </footer>
    </form>
  );
}

function label(amount: number | undefined, purchase: Purchase, offer: Offer): string {
  const verb = purchase.confirmBy ? "Plan" : "Buy";
  return amount === undefined ? verb : `${verb} ${format(amount, offer.unit)} ${offer.title} for ${purchase.duration}`;
}

function When({ purchase, offer, set }: { purchase: Purchase; offer: Offer; set: (change: Partial<Purchase>) => void }) {
  const soonest = (): number => Math.max(offer.earliest ?? 0, Date.now() / 1000 + 86400);
  const choose = (isLater: boolean): void => set({ confirmBy: isLater ? localOf(soonest()) : "" });
  return (
    <fieldset class="when">
      <legend>Starts</legend>
      <label class="check">
        <input type="radio" name="when" checked={!purchase.confirmBy} onChange={() => choose(false)} />
        at once
      </label>
      <label class="check">
        <input type="radio" name="when" checked={purchase.confirmBy !== ""} onChange={() => choose(true)} />
        later
      </label>
      {purchase.confirmBy && (
        <Field
          label="Starts on"
          name="confirm-by"
          type="datetime-local"
          value={purchase.confirmBy}
          hint="In your time zone. Its duration counts from then. If there is no capacity then, it waits until there is."
          onInput={(confirmBy) => set({ confirmBy })}
        />
      )}
    </fieldset>
  );
}
