// One commitment: all that is known of it, and what can be done with it.
import { useState } from "preact/hooks";
import type { ProjectRights } from "../api/rights";
import type { Commitment } from "../api/schema";
import { Dialog } from "../components/Dialog";
import { useAddress } from "../lib/address";
import { readable } from "../lib/messages";
import { zoneName } from "../lib/names";
import { formatTime, relative } from "../lib/time";
import { format } from "../lib/units";
import { Confirm, isQuestion } from "./Confirm";
import { ConvertForm } from "./ConvertForm";
import { DurationForm } from "./DurationForm";
import { StatusTag } from "./Summary";
import { TransferForm } from "./TransferForm";
import type { Offer } from "./offers";
import { type Action, type ActionProps, possibilities, resourceOf } from "./rules";
import { whatOf } from "./wording";

interface Props extends ActionProps {
  offers: Offer[];
  rights: ProjectRights;
  close: () => void;
}

export function ManageDialog({ at, commitment, offers, rights, done, close }: Props) {
  const [{ act: wanted }, change] = useAddress();
  const [isOver, setIsOver] = useState(false);
  const possible = isOver ? [] : possibilities(commitment, rights, Date.now() / 1000);
  // the address may ask for what is not possible, or not any more
  const action = isOver || possible.some((one) => one.action === wanted && !one.reason) ? (wanted as Action) : undefined;
  const props: ActionProps = {
    at,
    commitment,
    done: (text, stays) => {
      setIsOver(true);
      done(text, stays);
    },
  };
  const offer = offers.find((one) => one.key === resourceOf(commitment));
  return (
    <Dialog title={whatOf(commitment)} close={close}>
      <Facts of={commitment} />
      {possible.length > 0 && (
        <ul class="possibilities" aria-label="What can be done">
          {possible.map((one) => (
            <li key={one.action}>
              <button
                aria-pressed={action === one.action}
                disabled={one.reason !== undefined}
                class={one.action === "delete" ? "danger" : undefined}
                onClick={() => change({ act: one.action })}
              >
                {one.title}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Reasons of={possible.flatMap((one) => (one.reason ? [[one.title, one.reason] as const] : []))} />
      {action === "transfer" && <TransferForm {...props} />}
      {action === "duration" && <DurationForm {...props} durations={offer?.durations ?? []} />}
      {action === "convert" && <ConvertForm {...props} offers={offers} />}
      {action && isQuestion(action) && <Confirm key={action} {...props} action={action} />}
    </Dialog>
  );
}

function Reasons({ of: reasons }: { of: (readonly [string, string])[] }) {
  const texts = [...new Set(reasons.map(([, reason]) => reason))];
  if (texts.length === 0) return null;
  return (
    <ul class="plain hint">
      {texts.map((text) => (
        <li key={text}>
          {reasons
            .filter(([, reason]) => reason === text)
            .map(([title]) => title)
            .join(", ")}
          : {text}
        </li>
      ))}
    </ul>
  );
}

const moment = (seconds: number): string => `${formatTime(seconds)} (${relative(seconds)})`;

function Facts({ of: one }: { of: Commitment }) {
  const times: [string, number | undefined][] = [
    ["Created", one.created_at],
    ["Starts", one.confirm_by],
    ["Confirmed", one.confirmed_at],
    ["Superseded", one.superseded_at],
    ["Ends", one.expires_at],
  ];
  return (
    <dl class="facts">
      <dt>Amount</dt>
      <dd>
        {format(one.amount, one.unit)} of {resourceOf(one)}, {zoneName(one.availability_zone)}
      </dd>
      <dt>State</dt>
      <dd>
        <StatusTag of={one} />
      </dd>
      <dt>Duration</dt>
      <dd>{one.duration}</dd>
      {times.map(([title, at]) => at !== undefined && [<dt key={title}>{title}</dt>, <dd key={`${title}-at`}>{moment(at)}</dd>])}
      {one.auto_renew && [
        <dt key="renewal">Renewal</dt>,
        <dd key="renewal-how">{one.auto_renew_error ? `failed: ${readable(one.auto_renew_error)}` : "automatic, before it ends"}</dd>,
      ]}
      {one.creator_name && [<dt key="who">Created by</dt>, <dd key="who-name">{one.creator_name}</dd>]}
      <dt>Number</dt>
      <dd>{one.id}</dd>
      <dt>UUID</dt>
      <dd>
        <code>{one.uuid}</code>
      </dd>
    </dl>
  );
}
