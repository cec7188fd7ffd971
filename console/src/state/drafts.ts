/** What somebody has begun to write and not sent: per conversation and per day of the journal, in this browser alone. */
const PREFIX = "draft/";

export function draftOf(name: string): string {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(name: string, text: string): void {
  try {
    if (text) localStorage.setItem(PREFIX + name, text);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    // A private window keeps nothing.
  }
}

export function dropDrafts(): void {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
  } catch {
    // Then there are none.
  }
}
