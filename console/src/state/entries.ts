/** Entries for the journal. */
import { api } from "~/api/client";
import type { Letter } from "./letter_store";
import { sendToJournal } from "./pieces";
import { keepSmall } from "./pictures";

export interface NewEntry {
  content: string;
  date: string;
  /** Time of writing, where that is not now. */
  written_at?: string;
  audio_path?: string;
  duration?: number;
  idempotency_key: string;
}

export const write = (body: NewEntry) => api.module("POST", "/api/daily/entries", { body });

/** Keep the pictures of a letter in the journal, each once, and give its text with them below. */
export async function addPictures({ id, content, date }: Letter, files: readonly File[]): Promise<string> {
  const shown: string[] = [];
  for (const [number, file] of files.entries()) {
    const path = await keepPicture(`${id}${String(number).padStart(2, "0")}`, file, date);
    shown.push(`![${file.name.replace(/[[\]]/g, "")}](${path})`);
  }
  return [content, ...shown].filter(Boolean).join("\n\n");
}

async function keepPicture(key: string, file: File, date: string): Promise<string> {
  const name = file.name;
  if (!isSecureContext) {
    // There is no hash without TLS, and nothing is kept on the device either.
    const headers = { "content-type": file.type || "application/octet-stream" };
    const found = await api.module<{ path: string }>("POST", "/api/daily/assets/{name}", { params: { name }, query: { date }, body: file, headers });
    return found.path;
  }
  const path = await sendToJournal(key, { name, date }, file);
  await keepSmall(path, file);
  return path;
}

/** A word that no other request has: the same entry is not written twice when its answer is lost. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
