// Several choices of the address at once: filters, and which dialog is open.
import { useLocation } from "preact-iso";

export type Choices = Readonly<Record<string, string | undefined>>;

/** The query, and a function that changes it. With `isStep` the browser's Back leads back to before. */
export function useAddress(): [Choices, (changes: Choices, isStep?: boolean) => void] {
  const { query, path, route } = useLocation();
  function change(changes: Choices, isStep = false): void {
    const left = Object.entries({ ...query, ...changes }).filter((one): one is [string, string] => Boolean(one[1]));
    const search = new URLSearchParams(left).toString();
    route(search ? `${path}?${search}` : path, !isStep);
  }
  return [query, change];
}

/** One choice. */
export function useChoice(key: string, otherwise: string): [string, (value: string) => void] {
  const [choices, change] = useAddress();
  return [choices[key] ?? otherwise, (value) => change({ [key]: value })];
}
