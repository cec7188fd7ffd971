/** Sending a recording in pieces: the computer says first how much it has, and at last that it has the whole, by its hash. */
import { ApiError } from "~/api/client";

/** Bytes of one piece: on a slow connection, too, it arrives before somebody gives up. */
const PIECE = 256 * 1024;
const MILLISECONDS = 60_000;
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

/** Send what the computer lacks of a recording, and give the path that it has there; errors: ApiError. */
export async function sendPieces(data: Blob, { find, add }: Place): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await data.arrayBuffer()));
  const announced = { size: data.size, sha256: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
  let there = await patient((signal) => find(announced, signal));
  for (let times = 0; !there.path; ) {
    const { offset } = there;
    const piece = data.slice(offset, offset + PIECE, "application/octet-stream");
    try {
      there = await patient((signal) => add({ ...announced, offset }, piece, signal));
    } catch (error) {
      const isChanged = error instanceof ApiError && (error.key === "wrong_offset" || error.key === "wrong_hash");
      if (!isChanged || ++times > TIMES) throw error;
      there = await patient((signal) => find(announced, signal));
    }
  }
  return there.path;
}

/** Give a request up that nobody answers: a phone may have changed its network. */
async function patient(ask: (signal: AbortSignal) => Promise<There>): Promise<There> {
  const signal = AbortSignal.timeout(MILLISECONDS);
  try {
    return await ask(signal);
  } catch (error) {
    if (signal.aborted) throw new ApiError(0, "not_sent", "");
    throw error;
  }
}
