/** Changes of entries that were written at another time than they arrive: never over what is on the computer by then. */
import { api, ApiError } from "~/api/client";
import { keep, type Letter, replaced, type Said } from "./letter_store";
import { merged } from "./merging";
import { patient } from "./patience";

const ROUTE = "/api/daily/entries/{id}";

/** Write what a letter changes; errors: ApiError `entry_changed` with both sides in the letter, where a person has to choose. */
export async function change(letter: Letter): Promise<void> {
  const { edit, content } = letter;
  if (!edit) return;
  const params = { id: edit.entry };
  const mine = { title: edit.title, content };
  // What the person has seen last is what they have decided about.
  let seen = edit.theirs ?? edit.before;
  for (let times = 0; ; times++) {
    try {
      const body = { ...mine, expected_version: seen.version };
      const { title, content, version } = await patient((signal) => api.module<Said>("PUT", ROUTE, { params, body, signal }));
      // What was written once more meanwhile was written on this, unless somebody else's words are in it by now.
      const next = times === 0 ? await replaced(letter) : undefined;
      if (next?.edit) await keep({ ...next, edit: { ...next.edit, before: { title, content, version } } });
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || !["entry_changed", "no_such_entry"].includes(error.key) || times > 3) throw error;
      const theirs = await found(edit.entry);
      // An answer that was lost: it is there already.
      if (theirs && theirs.content === content.trimEnd() && theirs.title === mine.title) return;
      const both = theirs && !edit.theirs && mergedSides(edit.before, { ...mine, version: "" }, theirs);
      if (!theirs || !both) {
        if (!(await replaced(letter))) await keep({ ...letter, edit: { ...edit, theirs: theirs ?? null }, isRefused: true });
        throw error;
      }
      [mine.title, mine.content, seen] = [both.title, both.content, theirs];
    }
  }
}

/** Both sides as one, where they have changed other paragraphs. */
function mergedSides(before: Said, mine: Said, theirs: Said): Omit<Said, "version"> | undefined {
  const content = merged(before.content, mine.content, theirs.content);
  const title = mine.title === before.title ? theirs.title : theirs.title === before.title || theirs.title === mine.title ? mine.title : undefined;
  return content === undefined || title === undefined ? undefined : { title, content };
}

async function found(id: string): Promise<Said | undefined> {
  try {
    const { title, content, version } = await patient((signal) => api.module<Said>("GET", ROUTE, { params: { id }, signal }));
    return { title, content, version };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
