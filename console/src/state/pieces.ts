/** Sending a recording or a file in pieces: the computer says first how much it has, and at last that it has the whole, by its hash. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { api, ApiError } from "~/api/client";
import { patient } from "./patience";

/** Bytes of one piece: on a slow connection, too, it arrives before somebody gives up. */
const PIECE = 256 * 1024;
/** Bytes of one piece of something large, for which many small ones would take too long; the computer takes no larger ones. */
const LARGE_PIECE = 1024 * 1024;
const LARGE = 8 * 1024 * 1024;
/** Times to begin anew where another window, or a computer that was restored, has changed what is there. */
const TIMES = 20;

/** Bytes that the computer has, and the path once it has all of them with the hash that was announced. */
export interface There {
  offset: number;
  path: string | null;
}

export interface Announced {
  size: number;
  sha256: string;
}

interface Place {
  find: (announced: Announced, signal: AbortSignal) => Promise<There>;
  add: (announced: Announced & { offset: number }, piece: Blob, signal: AbortSignal) => Promise<There>;
}

/** Send what the computer lacks of a file, say how many bytes of it are there, and give the path that it has there; errors: ApiError. */
export async function sendPieces(data: Blob, { find, add }: Place, hear: (bytes: number) => void = () => undefined): Promise<string> {
  const announced = { size: data.size, sha256: await hashOf(data) };
  const length = data.size > LARGE ? LARGE_PIECE : PIECE;
  let there = await patient((signal) => find(announced, signal));
  for (let times = 0; !there.path; ) {
    const { offset } = there;
    hear(offset);
    const piece = data.slice(offset, offset + length, "application/octet-stream");
    try {
      there = await patient((signal) => add({ ...announced, offset }, piece, signal));
    } catch (error) {
      const isChanged = error instanceof ApiError && (error.key === "wrong_offset" || error.key === "wrong_hash");
      if (!isChanged || ++times > TIMES) throw error;
      there = await patient((signal) => find(announced, signal));
    }
  }
  hear(data.size);
  return there.path;
}

/** Send a recording or another file of an entry, and give the path that it has within the journal. */
export function sendToJournal(key: string, file: { name: string; date: string }, data: Blob, hear?: (bytes: number) => void): Promise<string> {
  const route = `/api/daily/recordings/${key}` as const;
  return sendPieces(
    data,
    {
      find: (announced, signal) => api.module<There>("GET", route, { query: { ...file, ...announced }, signal }),
      add: (announced, body, signal) => api.module<There>("PUT", route, { query: { ...file, ...announced }, body, signal }),
    },
    hear,
  );
}

/** The SHA-256 of a file, which is never in memory as a whole: the browser's own function would want that. */
async function hashOf(data: Blob): Promise<string> {
  const hash = sha256.create();
  const reader = data.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) hash.update(part.value);
  return bytesToHex(hash.digest());
}
