/** A value that is still for a moment: what is typed is not asked for letter by letter. */
import { useEffect, useState } from "preact/hooks";

const PAUSE = 250;

export function useDebounced<T>(value: T, milliseconds = PAUSE): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
