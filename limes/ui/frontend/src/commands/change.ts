// How to make a change without this page: a command of the OpenStack client, and a request by curl.
import { apiPath, type Place } from "../lib/paths";
import { formatExact } from "../lib/units";
import { commandLine, Variable } from "./shell";

type Word = string | Variable;

/** The request that the page itself would send. */
export interface Sent {
  method: "GET" | "PUT" | "POST" | "DELETE";
  path: string;
  body?: unknown;
  /** Which form of the answer is wanted, and the name of the file that it goes to. */
  accept?: string;
  file?: string;
  /** A commitment's transfer token goes with it. */
  needsTransferToken?: boolean;
  /** The transfer token of a commitment that is offered to everybody: no secret. */
  publicToken?: string | undefined;
}

export interface Change {
  /** `openstack limes ...`, in groups of words that belong together. */
  client: Word[][];
  request: Sent;
}

/** Where programs find the secrets: neither is ever written into a command. */
const TOKEN = new Variable("X-Auth-Token: ", "OS_TOKEN");
const TRANSFER_TOKEN = new Variable("Transfer-Token: ", "OS_LIMES_TRANSFER_TOKEN");

export const clientCommand = ({ client }: Change): string => commandLine([["openstack", "limes", ...(client[0] ?? [])], ...client.slice(1)]);

/** Fails, and says why, where the API refuses. */
export function curlCommand({ request }: Change, origin = location.origin): string {
  const { method, path, body, accept, file, needsTransferToken, publicToken } = request;
  return commandLine([
    ["curl", "--fail-with-body", ...(method === "GET" ? [] : ["-X", method]), origin + path],
    ["-H", TOKEN],
    ...(needsTransferToken ? [["-H", TRANSFER_TOKEN]] : []),
    ...(publicToken ? [["-H", `Transfer-Token: ${publicToken}`]] : []),
    ...(accept ? [["-H", `Accept: ${accept}`]] : []),
    ...(file ? [["-o", file]] : []),
    ...(body === undefined ? [] : [["-H", "Content-Type: application/json"], ["-d", JSON.stringify(body)]]),
  ]);
}

/** An amount as the client takes it: with a unit and without a blank. */
export const amountWord = (amount: number, unit: string | undefined): string => formatExact(amount, unit).replace(" ", "");

/** Which project a command is about. Ids need not be looked up, and are not ambiguous. */
export function ofProject(at: Place): Word[][] {
  return [["--project", at.project ?? "", "--domain", at.domain ?? ""]];
}

export const commitmentsPath = (at: Place, rest = ""): string => apiPath(at, `/commitments${rest}`);
