/** Recordings that become text on the computer. */
import { api, type Schema } from "~/api/client";
import { listen } from "./live";

export type VoiceStatus = Schema<"VoiceStatus">;

export type Transcription = Schema<"TranscriptionAnswer">;

type Wanted = { path: string; entry?: string; again?: boolean };

const OVER = ["done", "failed", "cancelled"];

export const voiceStatus = (signal?: AbortSignal) => api.get("/api/voice", { signal });

/** The newest transcription of each entry of the journal whose recording lies in one of these folders. */
export async function ofEntries(folders: string[], signal: AbortSignal) {
  const asked = folders.map((folder) => api.get("/api/voice/transcriptions", { query: { folder, limit: 500 }, signal }));
  const found = (await Promise.all(asked)).flatMap(({ transcriptions }) => transcriptions);
  // The newest of a folder are first, and the last one that is put in stays.
  return new Map(found.reverse().map((job) => [job.entry, job]));
}

export const askFor = (body: Wanted) => api.post("/api/voice/transcriptions", { body });

export const retry = (identifier: string) => api.post("/api/voice/transcriptions/{identifier}/retry", { params: { identifier } });

export const cancel = (identifier: string) => api.delete("/api/voice/transcriptions/{identifier}", { params: { identifier } });

/** Wait until a transcription is over, or has failed and waits for its next try; each look is told to `onLook`. */
export async function finished(identifier: string, onLook: (progress: number | null) => void) {
  for (;;) {
    let changed = () => undefined as void;
    const news = new Promise<void>((resolve) => (changed = resolve));
    const end = listen(["voice"], () => changed());
    try {
      const job = await api.get("/api/voice/transcriptions/{identifier}", { params: { identifier } });
      if (OVER.includes(job.state) || (job.state === "waiting" && job.error)) return job;
      onLook(job.progress);
      await news;
    } finally {
      end();
    }
  }
}
