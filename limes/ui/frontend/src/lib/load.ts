// Documents that a page needs: loaded when it appears, loaded again on demand, and dropped when it goes.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data: T | undefined;
  error: Error | undefined;
  isLoading: boolean;
  /** Asks again, and shows the present data until the answer is there. */
  reload: () => void;
}

/** Runs `load` whenever one of `keys` changes. Answers for earlier keys are dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ data: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const shown = useRef("");
  const key = JSON.stringify(keys);

  useEffect(() => {
    const controller = new AbortController();
    const keep = shown.current === key;
    shown.current = key;
    setState((before) => ({ data: keep ? before.data : undefined, error: undefined, isLoading: true }));
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false });
      },
      (error: Error) => {
        if (!controller.signal.aborted) setState((before) => ({ data: before.data, error, isLoading: false }));
      },
    );
    return () => controller.abort();
  }, [key, round]);

  return { ...state, reload: useCallback(() => setRound((before) => before + 1), []) };
}

/** `value` as it was before it changed less than `delay` milliseconds ago. */
export function useDebounced<T>(value: T, delay = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return settled;
}
