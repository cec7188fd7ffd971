/** Something that is fetched, shown, and fetched again when it has changed on the computer. */
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { listen } from "./live";

export interface Resource<T> {
  value: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => Promise<void>;
  /** Show a value that an answer has brought already. */
  set: (value: T) => void;
}

let leaving = 0;
const pauses = new Set<() => void>();
const postponed = new Set<() => void>();

/** Remove or move what a screen shows, and go elsewhere: what has gone is fetched no more, also where that had begun. */
export async function leave<T>(work: () => Promise<T>): Promise<T> {
  leaving += 1;
  for (const pause of pauses) pause();
  try {
    return await work();
  } finally {
    // The new screen is drawn before a timer fires.
    setTimeout(() => {
      leaving -= 1;
      if (leaving > 0) return;
      for (const reload of postponed) reload();
      postponed.clear();
    });
  }
}

/** Fetch now, whenever `key` differs, and whenever one of the `topics` changes; the old value stays while a new one is on its way. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  topics: readonly string[] = [],
): Resource<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown; isLoading: boolean }>({ key, isLoading: true });
  const newest = useRef(load);
  newest.current = load;
  const running = useRef<AbortController | undefined>(undefined);

  const reload = useCallback(async () => {
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    try {
      const value = await newest.current(signal);
      if (signal.aborted) return;
      running.current = undefined;
      setState({ key, value, isLoading: false });
    } catch (error) {
      if (signal.aborted) return;
      running.current = undefined;
      setState((before) => ({ ...(before.key === key ? before : { key }), error, isLoading: false }));
    }
  }, [key]);

  // Its end comes with that of the component: that of an effect after the next frame, in which what has gone was asked for once more.
  useLayoutEffect(() => {
    void reload();
    const again = () => void reload();
    const end = listen(topics, () => (leaving > 0 ? void postponed.add(again) : again()));
    const pause = () => {
      if (!running.current) return;
      running.current.abort();
      postponed.add(again);
    };
    pauses.add(pause);
    return () => {
      end();
      pauses.delete(pause);
      postponed.delete(again);
      running.current?.abort();
    };
  }, [reload, topics.join()]);

  const current = state.key === key ? state : { value: undefined, error: undefined, isLoading: true };
  const set = useCallback((value: T) => setState({ key, value, isLoading: false }), [key]);
  return { value: current.value, error: current.error, isLoading: current.isLoading, reload, set };
}
