/** Entries for the journal. */
import { api } from "~/api/client";
import { patient } from "./patience";

export interface NewEntry {
  content: string;
  date: string;
  /** Time of writing, where that is not now. */
  written_at?: string;
  audio_path?: string;
  duration?: number;
  idempotency_key: string;
}

export const write = (body: NewEntry) => patient((signal) => api.module("POST", "/api/daily/entries", { body, signal }));

/** A word that no other request has: the same entry is not written twice when its answer is lost. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
