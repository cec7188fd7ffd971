/** Something that is fetched, shown, and fetched again when it has changed on the computer. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { listen } from "./live";

export interface Resource<T> {
  value: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => Promise<void>;
  /** Show a value that an answer has brought already. */
  set: (value: T) => void;
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
      if (!signal.aborted) setState({ key, value, isLoading: false });
    } catch (error) {
      if (!signal.aborted) setState((before) => ({ ...(before.key === key ? before : { key }), error, isLoading: false }));
    }
  }, [key]);

  useEffect(() => {
    void reload();
    const end = listen(topics, () => void reload());
    return () => {
      end();
      running.current?.abort();
    };
  }, [reload, topics.join()]);

  const current = state.key === key ? state : { value: undefined, error: undefined, isLoading: true };
  const set = useCallback((value: T) => setState({ key, value, isLoading: false }), [key]);
  return { value: current.value, error: current.error, isLoading: current.isLoading, reload, set };
}
