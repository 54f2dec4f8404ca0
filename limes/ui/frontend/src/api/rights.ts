// What this user may do with the commitments of a project. The API says so by answering: policies differ.
import { apiPath, type Place } from "../lib/paths";
import { canConfirm, type Wanted } from "./commitments";
import { ApiError, request } from "./client";

export interface Rights {
  /** Buy, transfer, reshape. */
  mayEdit: boolean;
  /** Delete what the state of a commitment allows to delete. */
  mayDelete: boolean;
}

export const NO_RIGHTS: Rights = { mayEdit: false, mayDelete: false };

async function isAllowed(question: Promise<unknown>): Promise<boolean> {
  try {
    await question;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status > 0 && error.status < 500) return error.status !== 403;
    throw error;
  }
}

/** Asks about a commitment that could be had, and about deleting number 0, which is no commitment's: 404 or 403. */
export async function rightsOn(at: Place, example: Wanted | undefined, signal?: AbortSignal): Promise<Rights> {
  const [mayEdit, mayDelete] = await Promise.all([
    example ? isAllowed(canConfirm(at, example, signal)) : false,
    isAllowed(request(apiPath(at, "/commitments/0"), { method: "DELETE", signal })),
  ]);
  return { mayEdit, mayDelete };
}
