/** The answer that is coming in, shown in steps and a bounded piece at a time: what arrives at once is one update, and never a long one. */
import type { Signal } from "@preact/signals";
import type { Message } from "./events";

/** Milliseconds between two updates: tasks of their own, between which the page draws and takes what is typed. */
const STEP = 30;
/** Characters of one update: two paragraphs; of what has gathered a share, so that it is soon shown whole. */
const PIECE = 150;
const SHARE = 1 / 8;

export class Pace {
  private wanted: Message | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly shown: Signal<Message | undefined>) {}

  /** The answer as far as it has come in. */
  get message(): Message | undefined {
    return this.wanted ?? this.shown.peek();
  }

  /** Show it in the next steps. */
  soon(message: Message): void {
    this.wanted = message;
    this.timer ??= setTimeout(() => this.step(), STEP);
  }

  /** Show it whole. */
  now(message: Message | undefined): void {
    clearTimeout(this.timer);
    this.timer = this.wanted = undefined;
    this.shown.value = message;
  }

  private step(): void {
    this.timer = undefined;
    const wanted = this.wanted;
    if (!wanted) return;
    const next = piece(this.shown.peek(), wanted);
    if (next === wanted) {
      this.now(wanted);
      return;
    }
    this.shown.value = next;
    this.soon(wanted);
  }
}

/** The message as the next update shows it, where its last text has grown. */
function piece(before: Message | undefined, wanted: Message): Message {
  const last = wanted.parts.at(-1);
  if (last?.kind !== "text") return wanted;
  const same = before?.key === wanted.key ? before.parts[wanted.parts.length - 1] : undefined;
  const had = same?.kind === "text" && last.text.startsWith(same.text) ? same.text.length : 0;
  const size = Math.max(PIECE, Math.ceil((last.text.length - had) * SHARE));
  if (had + size >= last.text.length) return wanted;
  // Not in the middle of a character.
  const isHalf = (last.text.codePointAt(had + size - 1) ?? 0) > 0xffff;
  return { ...wanted, parts: [...wanted.parts.slice(0, -1), { ...last, text: last.text.slice(0, had + size + (isHalf ? 1 : 0)) }] };
}
