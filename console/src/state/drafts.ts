/** Drafts that were not sent: per conversation and per day of the journal, in this browser alone. */
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

export function dropDrafts(): void {
  unstored.clear();
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // Then none is stored.
  }
}
