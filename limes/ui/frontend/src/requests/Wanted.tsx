// What a request asks for, and what was granted of it. Who decides may lower the amounts.
import { useId } from "preact/hooks";
import { keyOf } from "../api/report";
import { type QuotaRequest, refOf, type WantedQuota } from "../api/requests";
import { TableFrame } from "../components/TableFrame";
import { resourceTitle } from "../lib/names";
import { formatTime } from "../lib/time";
import { format, formatExact } from "../lib/units";
import type { Room } from "./bounds";

export interface Grants {
  typed: Readonly<Record<string, string>>;
  type: (key: string, text: string) => void;
  problems: ReadonlyMap<string, string>;
  room: ReadonlyMap<string, Room>;
}

/** What of a quota that grows by itself is asked for. */
const WHAT: Partial<Record<WantedQuota["what"], string>> = { max_quota: "limit of growth", min_quota: "at least" };

/** With `grants` there are fields for the amounts. */
export function Wanted({ of, grants }: { of: QuotaRequest; grants?: Grants | undefined }) {
  const isGranted = of.resources.some((one) => one.granted_quota !== undefined);
  return (
    <>
      {of.until !== undefined && <p>{termText(of)}</p>}
      <TableFrame caption="What is asked for">
        <table class="wrapped request-amounts">
          <caption class="visually-hidden">What is asked for</caption>
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col" class="number">
                Quota then
              </th>
              <th scope="col" class="number">
                Wanted
              </th>
              {isGranted && (
                <th scope="col" class="number">
                  Granted
                </th>
              )}
              {grants && <th scope="col">Grant</th>}
            </tr>
          </thead>
          <tbody>
            {of.resources.map((one) => (
              <Row key={keyOf(refOf(one))} one={one} isGranted={isGranted} grants={grants} />
            ))}
          </tbody>
        </table>
      </TableFrame>
    </>
  );
}

function termText({ from, until }: QuotaRequest): string {
  const end = until === undefined ? "" : `until ${formatTime(until)}`;
  return from === undefined ? `Wanted ${end}.` : `Wanted from ${formatTime(from)} ${end}.`;
}

function Row({ one, isGranted, grants }: { one: WantedQuota; isGranted: boolean; grants: Grants | undefined }) {
  const title = resourceTitle(one.service, one.resource);
  return (
    <tr>
      <th scope="row" title={`${one.service}/${one.resource}`}>
        {title} {one.what !== "quota" && <small>{WHAT[one.what]}</small>}
      </th>
      <td class="number">{format(one.present_quota, one.unit)}</td>
      <td class="number">{format(one.wanted_quota, one.unit)}</td>
      {isGranted && (
        <td class="number">
          {one.granted_quota === undefined ? "–" : format(one.granted_quota, one.unit)} {one.rule && <small>by rule {one.rule}</small>}
        </td>
      )}
      {grants && (
        <td>
          <Grant one={one} title={title} grants={grants} />
        </td>
      )}
    </tr>
  );
}

function Grant({ one, title, grants }: { one: WantedQuota; title: string; grants: Grants }) {
  const id = useId();
  const key = keyOf(refOf(one));
  const problem = grants.problems.get(key);
  const room = grants.room.get(key);
  return (
    <div class="grant">
      <input
        aria-label={`Grant of ${title}`}
        value={grants.typed[key] ?? ""}
        placeholder={formatExact(one.wanted_quota, one.unit)}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={id}
        onInput={(event) => grants.type(key, event.currentTarget.value)}
      />
      <p id={id} class={problem ? "verdict" : "hint"}>
        {problem ?? (room && <Fits one={one} room={room} type={(text) => grants.type(key, text)} />)}
      </p>
    </div>
  );
}

function Fits({ one, room, type }: { one: WantedQuota; room: Room; type: (text: string) => void }) {
  const now = `now ${format(room.now, one.unit)}`;
  if (room.most === undefined || room.most >= one.wanted_quota) return <>{now}; it fits</>;
  const most = room.most;
  return (
    <>
      {now}; only up to{" "}
      <button type="button" class="link" title={room.why} onClick={() => type(formatExact(most, one.unit))}>
        {format(most, one.unit)}
      </button>{" "}
      fits
    </>
  );
}
