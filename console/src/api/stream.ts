/** Server-sent events, read from a response: `EventSource` can neither send a message nor see why it was refused. */
import { send, type Options } from "./client";

/** The JSON of each event, in order, `onId` hears of their ids; ends when the server ends the stream, or throws ApiError without a connection. */
export async function* events<T>(
  method: "GET" | "POST",
  path: string,
  { onId, ...options }: Options & { onId?: (id: string) => void } = {},
): AsyncGenerator<T, void, void> {
  const response = await send(method, path, { ...options, headers: { accept: "text/event-stream" } });
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = value.split("\n");
      // Only what is new is looked through: a line may have megabytes.
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("id:")) onId?.(line.slice(3).trim());
        if (line.startsWith("data:")) yield JSON.parse(line.slice(5)) as T;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
