/** Drafts of what was not sent, in this browser alone: per field, and per conversation, day or entry that it belongs to. */
import { useEffect, useRef, useState } from "preact/hooks";
import { filesOf, keepFiles, moveFiles } from "./letters";

const PREFIX = "draft/";

/** Drafts where a browser stores nothing, until this page is left. */
const unstored = new Map<string, string>();

export function draftOf(name: string): string {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return unstored.get(name) ?? "";
  }
}

export function keepDraft(name: string, text: string): void {
  try {
    if (text) localStorage.setItem(PREFIX + name, text);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    unstored.set(name, text);
  }
}

/** The number of drafts. */
export function countDrafts(): number {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).length;
  } catch {
    return [...unstored.values()].filter(Boolean).length;
  }
}

export function dropDrafts(): void {
  unstored.clear();
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // Then none is stored.
  }
}

/** Say the text of a field, or what is made of the one that it has now. */
export type Say = (change: string | ((now: string) => string)) => void;

/** A text without what was sent of it: what was typed meanwhile stays. */
export const withoutSent = (now: string, sent: string) => (now.trimStart().startsWith(sent) ? now.trimStart().slice(sent.length).trimStart() : now);

/** Texts as paragraphs of one. */
export const joined = (...texts: string[]) => texts.filter(Boolean).join("\n\n");

/** Have a draft and its files go along where what it belongs to has got another name. */
export function moveDraft(from: string, to: string): void {
  const text = draftOf(from);
  keepDraft(from, "");
  if (text) keepDraft(to, text);
  void moveFiles(`draft/${from}`, `draft/${to}`).catch(() => undefined);
}

interface Draft {
  name: string;
  text: string;
  version: string;
}

/**
 * A field that survives a reload and leaving the screen; saying what it had at first, or nothing, forgets the draft. Of a change of
 * something it keeps the `version` that it was begun on, too: with that it is saved, so that what came meanwhile is not replaced unseen.
 */
export function useDraft(name: string, first = "", version = ""): [string, Say, string] {
  const read = (): Draft => {
    const kept = draftOf(name);
    if (!kept) return { name, text: first, version };
    const end = version ? kept.indexOf("\n") : -1;
    return { name, text: kept.slice(end + 1), version: version && kept.slice(0, end) };
  };
  const [state, setState] = useState(read);
  const draft = state.name === name ? state : read();
  const newest = useRef("");
  newest.current = draft.text;
  const say: Say = (change) => {
    const text = typeof change === "string" ? change : change(newest.current);
    newest.current = text;
    keepDraft(name, text === first && draft.version === version ? "" : version ? `${draft.version}\n${text}` : text);
    setState({ ...draft, text });
  };
  return [draft.text, say, draft.version];
}

/** Several fields in one draft, by their names. */
export function useDrafts<T extends Record<string, unknown>>(name: string, first: T, version = ""): [T, (values: T) => void, string] {
  const [text, say, begun] = useDraft(name, JSON.stringify(first), version);
  return [{ ...first, ...(JSON.parse(text || "{}") as T) }, (values) => say(JSON.stringify(values)), begun];
}

/** Files chosen for what is being written, which survive the same. */
export function useFileDraft<T>(name: string): [readonly T[], (change: (before: readonly T[]) => readonly T[]) => void] {
  const [files, setFiles] = useState<readonly T[]>([]);
  const newest = useRef(files);
  const known = useRef(name);
  useEffect(() => {
    let isOver = false;
    // What they belong to has got another name, and `moveDraft` has taken them along.
    if (known.current !== name) return void (known.current = name);
    void filesOf<T>(`draft/${name}`)
      .then((found) => {
        if (!isOver && found.length) setFiles((newest.current = [...found, ...newest.current]));
      })
      .catch(() => undefined);
    return () => void (isOver = true);
  }, [name]);
  const choose = (change: (before: readonly T[]) => readonly T[]) => {
    newest.current = change(newest.current);
    setFiles(newest.current);
    // In a private window they last as long as the page.
    void keepFiles(`draft/${name}`, newest.current).catch(() => undefined);
  };
  return [files, choose];
}
