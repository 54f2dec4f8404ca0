// One request that changes something: busy meanwhile, and what the API refuses is kept in its words.
import { useState } from "preact/hooks";
import { ApiError } from "../api/client";

export interface Submit {
  isBusy: boolean;
  problem: string;
  run: (work: () => Promise<void>) => Promise<void>;
}

export function inWords(error: Error): string {
  const isBare = error instanceof ApiError && error.status === 403 && error.message === "Forbidden";
  return isBare ? "Your role does not allow that." : error.message;
}

export function useSubmit(): Submit {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState("");
  async function run(work: () => Promise<void>): Promise<void> {
    setIsBusy(true);
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(inWords(error as Error));
    } finally {
      setIsBusy(false);
    }
  }
  return { isBusy, problem, run };
}
