/** Something open above a screen, which the way back closes. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { above } from "./steps";

export function useAbove(isOpen: boolean, close: () => void): void {
  const newest = useRef(close);
  newest.current = close;
  // At once: the step back looks right afterwards at what is still open.
  useLayoutEffect(() => (isOpen ? above(() => newest.current()) : undefined), [isOpen]);
}
