/** Calls of the server's API: every path is one of its description, so that the console uses nothing but the public API. */
import type { components, paths } from "schema";

/** Type of the API's description, by its name there. */
export type Schema<N extends keyof components["schemas"]> = components["schemas"][N];

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Taking<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, object> ? P : never;
}[keyof paths];

type Content<R> = R extends { content: { "application/json": infer T } } ? T : undefined;
/** The type of the answer that the description of the API declares. */
export type Answer<M extends Method, P extends keyof paths> = paths[P] extends Record<Lowercase<M>, { responses: infer R }>
  ? Content<R[keyof R & (200 | 201 | 202)]>
  : never;

interface Call<M extends Method> {
  <P extends Taking<M>>(path: P, options?: Options): Promise<Answer<M, P>>;
  /** A route whose answer is not declared yet, or declared in part as an open object. */
  <T>(path: Taking<M>, options?: Options): Promise<T>;
}

export interface Options {
  /** Values for the braces of the path. */
  params?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined | null>;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** An answer that is no success: a sentence of the server, with what to do next. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly key: string,
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

interface Listeners {
  /** Nobody is signed in any more. */
  signedOut: () => void;
  /** The server wants the owner to confirm who they are; whether they did. */
  confirm: () => Promise<boolean>;
  /** Give the text of an answer, or what is kept of it on this device where the computer does not answer. */
  read: (address: string, ask: () => Promise<string>) => Promise<string>;
}

export const listeners: Listeners = { signedOut: () => undefined, confirm: async () => false, read: (_, ask) => ask() };

/** The address of a route with its parameters. */
export function address(path: string, { params = {}, query = {} }: Options): string {
  const filled = path.replace(/\{(\w+)(?::\w+)?\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${filled}?${text}` : filled;
}

async function failure(response: Response): Promise<ApiError> {
  let body: { detail?: unknown; key?: unknown; hint?: unknown } = {};
  try {
    body = await response.json();
  } catch {
    // A proxy in between answers in HTML; the status says enough.
  }
  const detail = typeof body.detail === "string" ? body.detail : `${response.status} ${response.statusText}`;
  return new ApiError(response.status, String(body.key ?? ""), detail, typeof body.hint === "string" ? body.hint : null);
}

/** The response to a request, if it is a success; a body that is no Blob or string is sent as JSON. */
export async function send(method: Method, path: string, options: Options = {}): Promise<Response> {
  const { body, signal, headers = {} } = options;
  const isRaw = body instanceof Blob || typeof body === "string" || body === undefined;
  const request: RequestInit = {
    method,
    // Over plain HTTP browsers do not say which page asks; no page of another site can send this header.
    headers: { "x-parachute-console": "1", ...(isRaw ? {} : { "content-type": "application/json" }), ...headers },
    body: isRaw ? body : JSON.stringify(body),
    signal,
    credentials: "same-origin",
    cache: "no-store",
  };
  for (let attempt = 0; ; attempt++) {
    let response: Response;
    try {
      response = await fetch(address(path, options), request);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, method === "GET" ? "no_connection" : "not_sent", "");
    }
    if (response.ok) return response;
    const error = await failure(response);
    if (error.status === 401) listeners.signedOut();
    const canConfirm = error.key === "confirmation_needed" && attempt === 0;
    if (!canConfirm || !(await listeners.confirm())) throw error;
  }
}

/** Send a file, and say how much of it has gone out, 0 to 1: `fetch` does not know that. */
export function upload<T>(
  method: "POST" | "PUT",
  path: string,
  file: Blob,
  options: Options & { onProgress?: (part: number) => void } = {},
): Promise<T> {
  const { signal, onProgress, headers = {} } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address(path, options));
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total ? loaded / total : 0);
    request.onerror = () => reject(new ApiError(0, "not_sent", ""));
    request.onabort = () => reject(new DOMException("", "AbortError"));
    request.onload = async () => {
      const { status, statusText, responseText } = request;
      if (status < 300) return resolve((responseText ? JSON.parse(responseText) : undefined) as T);
      if (status === 401) listeners.signedOut();
      const error = await failure(new Response(responseText, { status, statusText }));
      const canConfirm = error.key === "confirmation_needed" && (await listeners.confirm());
      if (canConfirm) upload<T>(method, path, file, options).then(resolve, reject);
      else reject(error);
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

async function json<T>(method: Method, path: string, options?: Options): Promise<T> {
  const ask = async () => (await send(method, path, options)).text();
  const text = await (method === "GET" ? listeners.read(address(path, options ?? {}), ask) : ask());
  return (text ? JSON.parse(text) : undefined) as T;
}

const call = <M extends Method>(method: M): Call<M> => (path: string, options?: Options) => json<never>(method, path, options);

export const api = {
  get: call("GET"),
  post: call("POST"),
  put: call("PUT"),
  patch: call("PATCH"),
  delete: call("DELETE"),
  /** A route of a module: which there are depends on what is installed, so that no description can name them here. */
  module: <T>(method: Method, path: `/api/${string}`, options?: Options) => json<T>(method, path, options),
};

/** The file that a GET answers, as it comes; `onProgress` hears how many bytes are there. */
export async function download(path: Taking<"GET">, { onProgress, ...options }: Options & { onProgress?: (bytes: number) => void } = {}): Promise<Blob> {
  const response = await send("GET", path, options);
  let bytes = 0;
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onProgress?.((bytes += chunk.byteLength));
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, { headers: { "content-type": response.headers.get("content-type") ?? "" } }).blob();
}
