// Changes of commitments as commands.
import type { Publicity, Wanted } from "../api/commitments";
import type { Commitment, ConversionPart } from "../api/schema";
import { isoTime } from "../lib/csv";
import { apiPath, type Place } from "../lib/paths";
import { amountWord, type Change, commitmentsPath, ofProject, type Sent } from "./change";

const post = (path: string, body?: unknown): Sent => ({ method: "POST", path, ...(body === undefined ? {} : { body }) });

export function buying(at: Place, wanted: Wanted, unit: string): Change {
  const { service_type: service, resource_name: resource, availability_zone: zone = "any", amount, duration, confirm_by: start, auto_renew: renews } = wanted;
  return {
    client: [
      ["commitment", "create", `${service}/${resource}`, amountWord(amount, unit)],
      ["--az", zone, "--duration", duration],
      ...(start === undefined ? [] : [["--confirm-by", String(isoTime(start))]]),
      ...(renews ? [["--auto-renew"]] : []),
      ...ofProject(at),
    ],
    request: post(commitmentsPath(at, "/new"), { commitment: wanted }),
  };
}

export function renewing(at: Place, { id }: Commitment): Change {
  return { client: [["commitment", "renew", String(id)], ...ofProject(at)], request: post(commitmentsPath(at, `/${id}/renew`)) };
}

export function switchingAutoRenewal(at: Place, { id }: Commitment, isOn: boolean): Change {
  return {
    client: [["commitment", "set", String(id), isOn ? "--auto-renew" : "--no-auto-renew"], ...ofProject(at)],
    request: { method: "PUT", path: commitmentsPath(at, `/${id}`), body: { commitment: { auto_renew: isOn } } },
  };
}

export function changingDuration(at: Place, { id }: Commitment, duration: string): Change {
  return {
    client: [["commitment", "set", String(id), "--duration", duration], ...ofProject(at)],
    request: post(commitmentsPath(at, `/${id}/update-duration`), { duration }),
  };
}

export function merging(at: Place, chosen: Commitment[]): Change {
  const ids = chosen.map((one) => one.id);
  return {
    client: [["commitment", "merge", ...ids.map(String)], ...ofProject(at)],
    request: post(commitmentsPath(at, "/merge"), { commitment_ids: ids }),
  };
}

export function converting(at: Place, { id, unit }: Commitment, part: ConversionPart): Change {
  return {
    client: [
      ["commitment", "convert", String(id)],
      ["--to", `${part.target_service}/${part.target_resource}`, "--amount", amountWord(part.source_amount, unit)],
      ...ofProject(at),
    ],
    request: post(commitmentsPath(at, `/${id}/convert`), { commitment: part }),
  };
}

export function deleting(at: Place, { id }: Commitment): Change {
  return {
    client: [["commitment", "delete", String(id), "--yes"], ...ofProject(at)],
    request: { method: "DELETE", path: commitmentsPath(at, `/${id}`) },
  };
}

export function offering(at: Place, { id, unit }: Commitment, amount: number, publicity: Publicity): Change {
  return {
    client: [
      ["commitment", "transfer", "start", String(id), "--amount", amountWord(amount, unit), ...(publicity === "public" ? ["--public"] : [])],
      ...ofProject(at),
    ],
    request: post(commitmentsPath(at, `/${id}/start-transfer`), { commitment: { amount, transfer_status: publicity } }),
  };
}

export function withdrawing(at: Place, { id, amount }: Commitment): Change {
  return {
    client: [["commitment", "transfer", "cancel", String(id)], ...ofProject(at)],
    request: post(commitmentsPath(at, `/${id}/start-transfer`), { commitment: { amount, transfer_status: "" } }),
  };
}

/** The client finds the token in `OS_LIMES_TRANSFER_TOKEN`, where no list of processes shows it. */
export function accepting(at: Place, { id }: Commitment): Change {
  return {
    client: [["commitment", "transfer", "accept"], ...ofProject(at)],
    request: { ...post(apiPath(at, `/transfer-commitment/${id}`)), needsTransferToken: true },
  };
}

/** Of one that is offered to everybody: the client finds it by its number. */
export function acceptingOffered(at: Place, { id, transfer_token: publicToken }: Commitment): Change {
  return {
    client: [["commitment", "transfer", "accept", String(id)], ...ofProject(at)],
    request: { ...post(apiPath(at, `/transfer-commitment/${id}`)), publicToken },
  };
}
