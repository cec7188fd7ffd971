/** Diagrams of Mermaid as pictures. They are drawn in a frame without an origin, which reaches nothing; what comes back is shown as an image only. */
import { effect } from "@preact/signals";
import { isDark } from "~/state/preferences";

/** The page of the frame; build.mjs fills it in. */
declare const DIAGRAMS: string;

export interface Drawn {
  address: string;
  width: number;
  height: number;
}

/** An answer of the frame; `id` is 0 once it is ready. */
interface Answer {
  id: number;
  svg?: string;
  width?: number;
  height?: number;
}

const MOST_CHARACTERS = 20_000;
const MOST_ANSWERED = 1_000_000;
const LARGEST = 8_000;
/** Milliseconds for one diagram, the first loading of what draws it included. */
const PATIENCE = 20_000;
const COLOURS = ["ground", "surface", "sunken", "text", "muted", "border-strong", "accent", "accent-soft"];

let count = 0;
let frame: Promise<HTMLIFrameElement> | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** Draw a diagram for a place, and again when the colours of the page change; nothing is shown where that is not possible. */
export function drawn(place: Element, text: string, show: (diagram: Drawn) => void): void {
  if (text.length > MOST_CHARACTERS) return;
  for (const other of places.keys()) if (!other.isConnected) places.delete(other);
  const next = () => void (queue = queue.then(() => (place.isConnected ? drawOne(text) : undefined)).then((diagram) => diagram && show(diagram)));
  places.set(place, next);
  next();
}

const places = new Map<Element, () => void>();
effect(() => {
  isDark.value;
  for (const next of places.values()) next();
});

/** The diagrams that were drawn last: the end of an answer draws it anew. */
const known = new Map<string, Drawn | undefined>();
const MOST_KNOWN = 20;

async function drawOne(text: string): Promise<Drawn | undefined> {
  const wanted = { text, ...look() };
  const key = JSON.stringify(wanted);
  if (!known.has(key)) {
    try {
      known.set(key, await sent(wanted));
    } catch {
      // It takes too long, or what draws could not be loaded: the next one gets a new frame.
      (await frame?.catch(() => undefined))?.remove();
      frame = undefined;
    }
    for (const old of [...known.keys()].slice(0, -MOST_KNOWN)) known.delete(old);
  }
  return known.get(key);
}

async function sent(wanted: object): Promise<Drawn | undefined> {
  const id = (count += 1);
  const target = (await (frame ??= open())).contentWindow;
  const { svg, width, height } = await answered(target, (data) => data.id === id, () => target?.postMessage({ id, ...wanted }, "*"));
  if (typeof svg !== "string" || svg.length > MOST_ANSWERED || !isSize(width) || !isSize(height)) return undefined;
  return { address: `data:image/svg+xml,${encodeURIComponent(svg)}`, width, height };
}

const isSize = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= LARGEST;

async function open(): Promise<HTMLIFrameElement> {
  const made = document.createElement("iframe");
  made.className = "diagram-frame";
  made.sandbox.add("allow-scripts");
  made.ariaHidden = "true";
  made.tabIndex = -1;
  made.src = `console/${DIAGRAMS}`;
  document.body.append(made);
  await answered(made.contentWindow, (data) => data.id === 0).catch((error: unknown) => {
    made.remove();
    throw error;
  });
  return made;
}

/** Wait for what a frame answers to `send`. */
function answered(target: Window | null, isIt: (data: Answer) => boolean, send?: () => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("message", take);
    };
    const take = ({ source, data }: MessageEvent<Answer | null>) => {
      if (source !== target || typeof data !== "object" || data === null || !isIt(data)) return;
      end();
      resolve(data);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error("no answer"));
    }, PATIENCE);
    addEventListener("message", take);
    send?.();
  });
}

/** The colours of the page as they are now, and its letters. */
function look() {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  const colours: Record<string, string> = {};
  for (const name of COLOURS) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  const { fontFamily } = getComputedStyle(document.body);
  probe.remove();
  return { colours, fontFamily, isDark: isDark.peek() };
}
