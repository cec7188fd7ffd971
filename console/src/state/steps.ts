/**
 * Steps of the history for what lies open above a screen: going back closes it before it leaves the screen.
 *
 * A step that is not needed any more stays, and is passed over: taking it back takes effect later, when the page may have gone
 * elsewhere already.
 */
interface Step {
  depth: number;
}

const open: (() => void)[] = [];

/** The number of open things for which the entry of now was made; undefined for an entry that knows of none. */
function known(): number | undefined {
  return (history.state as Step | null)?.depth;
}

let before = known() ?? 0;

/** True on an entry that was made for something above a screen. */
export const isAbove = () => (known() ?? 0) > 0;

/** Go to an address from such an entry: it takes that one's place. With `keep` it is passed over, as the one below it. */
export function takePlace(address: string, keep: boolean): void {
  history.replaceState(keep ? history.state : null, "", address);
  before = known() ?? 0;
}

function hold(): void {
  if (known() === undefined) history.replaceState({ depth: 0 } satisfies Step, "");
  if (known()! < open.length) history.pushState({ depth: open.length } satisfies Step, "");
  before = known()!;
}

/** Have the next step back call `close` until the answer is called. */
export function above(close: () => void): () => void {
  const entry = () => close();
  open.push(entry);
  hold();
  return () => void open.splice(open.indexOf(entry), 1);
}

addEventListener("popstate", () => {
  const from = before;
  before = known() ?? 0;
  // Another entry is a place that somebody has gone to, by a link or an address.
  if (known() === undefined || from <= before) return;
  const close = open.at(-1);
  if (!close) return history.back();
  close();
  // What stays open, since something in it is under way, keeps its step.
  setTimeout(() => open.length > before && hold());
});
