/** Entries for the journal. */
import { api } from "~/api/client";

export interface NewEntry {
  content: string;
  date: string;
  audio_path?: string;
  duration?: number;
  idempotency_key: string;
}

export const write = (body: NewEntry) => api.module("POST", "/api/daily/entries", { body });

/** Keep a recording or a picture, and give its path within the journal, and how much of it is there. */
export function keepAsset(name: string, date: string, data: Blob): Promise<{ path: string; size: number }> {
  const headers = { "content-type": data.type || "application/octet-stream" };
  return api.module("POST", "/api/daily/assets/{name}", { params: { name }, query: { date }, body: data, headers });
}

/** A word that no other request has: the same entry is not written twice when its answer is lost. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
