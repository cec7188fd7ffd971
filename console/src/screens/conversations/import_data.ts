/** An import as the server describes it. */
import { t } from "./texts";

export interface ImportState {
  id: string;
  name: string;
  kind: string | null;
  state: "receiving" | "waiting" | "running" | "done" | "failed" | "cancelled" | "interrupted" | "undoing" | "undone";
  dryRun: boolean;
  archived: boolean;
  startedAt: string;
  endedAt: string | null;
  progress: number;
  conversations: number;
  imported: number;
  skipped: number;
  grown: number;
  beside: number;
  documents: number;
  attachments: number;
  entries: number;
  entriesImported: number;
  entriesSkipped: number;
  media: number;
  files: number;
  filesImported: number;
  filesSkipped: number;
  messages: number;
  oldest: string | null;
  newest: string | null;
  leftOut: { what: string; count: number; why: string; names?: string[] }[];
  suggestionsImported: number;
  errors: string[];
  conflicts: string[];
  kept: string[];
}

export const KINDS = ["auto", "chatgpt", "claude", "gemini", "librechat", "lmstudio", "openwebui", "parachute", "obsidian", "dayone", "applejournal", "mail", "brain"] as const;
export type Kind = (typeof KINDS)[number];

export const isOver = ({ state }: ImportState) => !["receiving", "waiting", "running", "undoing"].includes(state);

/** Return an omission and its reason, in the language of the page; an unknown reason is shown as the server wrote it. */
export function reason({ what, why }: { what: string; why: string }): string {
  const key = `left_${what}` as "left_images";
  const known = t(key);
  return known === key ? why : known;
}
