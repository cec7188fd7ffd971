/** Things that other apps share with the installed console: the service worker takes it, and it is on the disk of this device before anything else. */
import { newKey } from "./entries";
import { all, keep } from "./letter_store";

/** The address that the manifest names for it; nobody but the service worker takes something there. */
const ADDRESS = "/console/share";
/** The computer takes no larger file in pieces. */
const LARGEST = 512 * 1024 * 1024;
const MOST_FILES = 50;
const MOST_WAITING = 20;
const LONGEST = 100_000;

export interface SharedFile {
  name: string;
  type: string;
  size: number;
}

export interface Shared {
  title: string;
  /** The address of a page that it is about, or nothing. */
  link: string;
  files: SharedFile[];
}

export type Target = "journal" | "note" | "page";

/** Reasons why something was not taken. */
export const PROBLEMS = ["elsewhere", "nothing", "too_long", "too_many", "too_large", "too_many_waiting", "no_room", "not_kept"] as const;
type Problem = (typeof PROBLEMS)[number];

/** Say whether a request is what a share sheet sends: the window itself goes there, and no frame in a page. */
export function isShare({ method, mode, destination, url }: Request): boolean {
  const { origin, pathname } = new URL(url);
  return method === "POST" && mode === "navigate" && destination === "document" && origin === location.origin && pathname === ADDRESS;
}

/** Keep what was shared, and lead to the screen that asks where it goes, or that says why it was not taken. */
export async function received(request: Request): Promise<Response> {
  const problem = await taken(request).catch((error: unknown): Problem => (isFull(error) ? "no_room" : "not_kept"));
  return Response.redirect(`/#/share${problem ? `?problem=${problem}` : ""}`, 303);
}

const isFull = (error: unknown) => error instanceof DOMException && error.name === "QuotaExceededError";

/** A page says where it is, unless it hides that; a share sheet is no page. What hides it comes as far as the question, which a person answers. */
function isFromPage({ headers, referrer }: Request): boolean {
  return (headers.get("origin") ?? "null") !== "null" || /^https?:/.test(referrer);
}

async function taken(request: Request): Promise<Problem | undefined> {
  if (isFromPage(request)) return "elsewhere";
  if ((await all()).filter(({ kind }) => kind === "shared").length >= MOST_WAITING) return "too_many_waiting";
  const form = await request.formData();
  const [title, text, url] = ["title", "text", "url"].map((name) => textOf(form.get(name)));
  // A form without a file names one without a name.
  const files = form.getAll("files").filter((each) => each instanceof File).filter(({ name, size }) => name || size);
  const link = [url, ...(text?.match(/https?:\/\/[^\s<>"]+/g) ?? [])].find((found) => found && isAddress(found)) ?? "";
  const content = [title, text, url].filter((each, index, others) => each && others.findIndex((other) => other?.includes(each)) === index).join("\n\n");
  if (!content && files.length === 0) return "nothing";
  if (content.length > LONGEST) return "too_long";
  if (files.length > MOST_FILES) return "too_many";
  if (files.some(({ size }) => size > LARGEST)) return "too_large";
  const shared = { title: title ?? "", link, files: files.map(({ name, type, size }, index) => ({ name: plainName(name) || `file-${index + 1}`, type, size })) };
  const now = new Date();
  await keep({ id: newKey(), kind: "shared", at: now.toISOString(), date: dayOf(now), content, shared }, files);
  return undefined;
}

const textOf = (value: FormDataEntryValue | null) => (typeof value === "string" ? value.replace(/\0/g, "").trim() : "");

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : "");
}

/** The name of a file as no folder, no hidden file and none that some system refuses: nothing, where nothing is left of it. */
export function plainName(name: string): string {
  const plain = name.normalize("NFC").replace(/[\p{C}\\/:*?"<>|]+/gu, " ").replace(/\s+/g, " ").replace(/^[.\s]+|[.\s]+$/g, "");
  const [, stem = plain, ending = ""] = /^(.*?)(\.\w{1,10})?$/u.exec(plain) ?? [];
  return [...stem].slice(0, 50).join("").trim() + ending;
}

/** A day as the journal names it, by the clock of this device. */
export function dayOf(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}
