/** Giving a request up that nobody answers: a phone may have changed its network. */
import { ApiError } from "~/api/client";

const MILLISECONDS = 60_000;

/** Ask, and let it wait as if there were no connection where no answer comes; errors: ApiError. */
export async function patient<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), MILLISECONDS);
  try {
    return await ask(late.signal);
  } catch (error) {
    if (late.signal.aborted) throw new ApiError(0, "not_sent", "");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
