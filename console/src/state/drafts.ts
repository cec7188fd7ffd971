/** Drafts of what was not sent, in this browser alone: per field, and per conversation, day or entry that it belongs to. */
import { useEffect, useRef, useState } from "preact/hooks";
import { filesOf, keepFiles } from "./letters";

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

/** A field that survives a reload and leaving the screen; saying what it had at first, or nothing, forgets the draft. */
export function useDraft(name: string, first = ""): [string, (text: string) => void] {
  const read = () => ({ name, text: draftOf(name) || first });
  const [state, setState] = useState(read);
  const { text } = state.name === name ? state : read();
  const say = (typed: string) => {
    keepDraft(name, typed === first ? "" : typed);
    setState({ name, text: typed });
  };
  return [text, say];
}

/** Files chosen for what is being written, which survive the same. */
export function useFileDraft<T>(name: string): [readonly T[], (change: (before: readonly T[]) => readonly T[]) => void] {
  const [files, setFiles] = useState<readonly T[]>([]);
  const newest = useRef(files);
  useEffect(() => {
    let isOver = false;
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
