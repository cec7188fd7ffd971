/** One text of two that come from the same one, where they have changed different paragraphs of it. */

interface Change {
  from: number;
  to: number;
  text: string[];
}

const paragraphs = (text: string) => text.replace(/\r\n?/g, "\n").trimEnd().split(/\n{2,}/);

/** Places of a longest row of paragraphs that both have, in order. */
function common(one: readonly string[], other: readonly string[]): [number, number][] {
  const longest = Array.from({ length: one.length + 1 }, () => new Uint32Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const [row, below] = [longest[i], longest[i + 1]];
      if (row && below) row[j] = one[i] === other[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) found.push([i++, j++]);
    else if ((longest[i + 1]?.[j] ?? 0) >= (longest[i]?.[j + 1] ?? 0)) i++;
    else j++;
  }
  return found;
}

function changes(before: readonly string[], after: readonly string[]): Change[] {
  const found: Change[] = [];
  let [from, at] = [0, 0];
  for (const [i, j] of [...common(before, after), [before.length, after.length] as const]) {
    if (i > from || j > at) found.push({ from, to: i, text: after.slice(at, j) });
    [from, at] = [i + 1, j + 1];
  }
  return found;
}

/** Say whether both are about the same paragraphs, or add some at the same place, where nobody knows which come first. */
function clash(one: Change, other: Change): boolean {
  const isSamePlace = one.from === one.to && other.from === other.to && one.from === other.from;
  return isSamePlace || (one.from < other.to && other.from < one.to);
}

/** Paragraphs beyond which nobody waits for a comparison. */
const MOST = 2000;

/** The text with the changes of both; undefined where they touch, so that a person has to choose. */
export function merged(before: string, mine: string, theirs: string): string | undefined {
  if (mine === theirs || theirs === before) return mine;
  if (mine === before) return theirs;
  const [old, one, other] = [paragraphs(before), paragraphs(mine), paragraphs(theirs)];
  if (Math.max(old.length, one.length, other.length) > MOST) return undefined;
  const ours = changes(old, one);
  const all = [...ours];
  for (const change of changes(old, other)) {
    const isSame = ours.some(({ from, to, text }) => from === change.from && to === change.to && text.join("\0") === change.text.join("\0"));
    if (isSame) continue;
    if (ours.some((one) => clash(one, change))) return undefined;
    all.push(change);
  }
  for (const { from, to, text } of all.sort((a, b) => b.from - a.from || b.to - a.to)) old.splice(from, to - from, ...text);
  return old.filter((paragraph, index) => paragraph || index).join("\n\n");
}
