/** Parts of the program that are fetched when they are first needed. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { attempt } from "~/state/toasts";

export function late<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined;
  return function Late(props: P) {
    const [, redraw] = useState(false);
    useEffect(() => {
      if (Loaded) return;
      void attempt(load).then((part) => {
        Loaded = part?.default;
        redraw(true);
      });
    }, []);
    return Loaded ? <Loaded {...props} /> : null;
  };
}
