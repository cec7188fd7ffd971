/** Parts of the program that are fetched when they are first needed, and once more when the computer is back. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "~/api/client";
import { isConnected, listen } from "~/state/live";
import { attempt } from "~/state/toasts";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

const loaded = new Map<unknown, unknown>();

/** The part that `load` brings, as soon as it is there, or why it is not. */
export function useLate<P>(load: Load<P> | undefined): { part: ComponentType<P> | undefined; error?: unknown } {
  const [failed, setFailed] = useState<{ of: unknown; error: unknown }>();
  useEffect(() => {
    if (!load || loaded.has(load)) return;
    const fetched = () =>
      load().then(
        (module) => {
          loaded.set(load, module.default);
          setFailed({ of: undefined, error: undefined });
        },
        (error: unknown) => setFailed({ of: load, error: isConnected.value ? error : new ApiError(0, "", String(error)) }),
      );
    void fetched();
    return listen([], () => !loaded.has(load) && void fetched());
  }, [load]);
  return { part: loaded.get(load) as ComponentType<P> | undefined, ...(load && failed?.of === load && { error: failed.error }) };
}

export function late<P extends object>(load: Load<P>): ComponentType<P> {
  return function Late(props: P) {
    const { part: Loaded, error } = useLate(load);
    useEffect(() => {
      if (error) void attempt(() => Promise.reject(error));
    }, [error]);
    return Loaded ? <Loaded {...props} /> : null;
  };
}
