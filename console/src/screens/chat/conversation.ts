/** One open conversation: its messages, the answer that is coming in, and what the agent asks. */
import { batch, signal } from "@preact/signals";
import { api, ApiError } from "~/api/client";
import { events } from "~/api/stream";
import type { Question } from "~/components/questions";
import { newKey } from "~/state/entries";
import { type Letter, remove, timeOfNow, waitingIn } from "~/state/letters";
import { listen } from "~/state/live";
import { sendKept } from "~/state/outbox";
import { messageOf } from "~/state/sending";
import { explain } from "~/text/errors";
import { drawn, seen } from "~/text/seen";
import { type Attachment, attached, shown } from "./attachments";
import { added, type ChatEvent, ENDS, type Message, type PermissionRequest, textOf } from "./events";
import type { Beginning, Session } from "./models";
import { Pace } from "./pace";
import { joined, MOST, read, readFirst, SOME } from "./reading";
import type { Point } from "./versions";

export type { Beginning, Session } from "./models";

const PAUSE = 1000;

export class Conversation {
  readonly session = signal<Session | undefined>(undefined);
  readonly messages = signal<Message[]>([]);
  /** The answer that is coming in; it joins `messages` at its end. */
  readonly live = signal<Message | undefined>(undefined);
  readonly isRunning = signal(false);
  readonly question = signal<{ requestId: string; questions: Question[] } | undefined>(undefined);
  readonly permission = signal<PermissionRequest | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  readonly isLoading = signal(true);
  /** True if there are messages before those that were read. */
  readonly hasEarlier = signal(false);
  /** The places at which branches of it have other messages. */
  readonly points = signal<Point[]>([]);
  /** The message that a search has found. */
  readonly found = signal<{ key: string; words: string } | undefined>(undefined);
  private readonly ended = new AbortController();
  private readonly endListening: () => void;
  private readonly pace = new Pace(this.live);
  private count = 0;
  private last: { text: string; attachments: Attachment[] } = { text: "", attachments: [] };
  /** True once the computer has answered anything to the message. */
  private isHeard = false;
  private onHeard: ((session: string) => void) | undefined;
  private branchedFrom: string | null = null;
  private onBranched: (() => void) | undefined;

  constructor(
    public id: string | undefined,
    private readonly onBegun: (id: string, isBranch: boolean) => void,
  ) {
    const look = () => void this.catchUp().catch(() => undefined);
    const endings = [
      listen(["runs"], (change) => (change.topic !== "runs" || !change.id || change.id === this.id) && look()),
      listen(["sessions"], ({ id }) => void this.lookAgain(id === this.id)),
    ];
    this.endListening = () => endings.forEach((end) => end());
  }

  /** Read what was said, with `isLong` more than the first screen needs, and follow an answer that is coming in. */
  async open(isLong = false): Promise<void> {
    this.error.value = undefined;
    if (!this.id) return void (this.isLoading.value = false);
    try {
      const params = { session: this.id };
      const [found, { active }] = await Promise.all([
        isLong ? read(this.id, SOME) : readFirst(this.id),
        // What was read before is shown without a connection, too; whether it is being answered nobody knows then.
        api.get("/api/chat/{session}/stream-status", { params }).catch((error: unknown) => {
          if (error instanceof ApiError && error.status === 0) return { active: false };
          throw error;
        }),
      ]);
      batch(() => {
        this.session.value = found.session;
        this.messages.value = found.messages;
        this.hasEarlier.value = found.hasEarlier;
        this.isRunning.value = active;
      });
      void this.goOn(active, !isLong);
    } catch (error) {
      this.error.value = error;
    } finally {
      this.isLoading.value = false;
    }
  }

  /** Read some messages before the few that were read first, and follow an answer that is coming in. */
  private async goOn(isActive: boolean, isShort: boolean): Promise<void> {
    if (isShort && this.hasEarlier.value) {
      // An answer that is coming in may be to a message further up.
      if (!isActive) await drawn();
      if (this.ended.signal.aborted) return;
      await this.earlier(SOME).catch(() => undefined);
    }
    if (this.ended.signal.aborted) return;
    if (isActive) void this.follow();
    void this.lookAgain(false);
  }

  /** Read the messages before those that are there, too. */
  async earlier(limit = MOST): Promise<void> {
    const id = this.id;
    if (!this.hasEarlier.value || !id) return;
    const more = await read(id, limit);
    // Another one may have read all of them.
    if (id !== this.id || !this.hasEarlier.value) return;
    const all = joined(more.messages, this.messages.value) ?? (this.isRunning.value ? undefined : more.messages);
    if (!all) return;
    this.messages.value = all;
    this.hasEarlier.value = more.hasEarlier;
  }

  /** Read the versions of its messages, and if it has changed itself, its title and settings, too. */
  private async lookAgain(hasChanged: boolean): Promise<void> {
    const id = this.id;
    if (!id) return;
    const params = { session: id };
    const signal = this.ended.signal;
    const [versions, found] = await Promise.all([
      api.get("/api/chat/{session}/versions", { params, signal }).catch(() => undefined),
      hasChanged ? api.get("/api/chat/{session}", { params, query: { limit: 1 }, signal }).catch((error: unknown) => error) : undefined,
    ]);
    if (id !== this.id || signal.aborted) return;
    if (versions && JSON.stringify(versions.points) !== JSON.stringify(this.points.value)) this.points.value = versions.points;
    if (found instanceof ApiError) {
      // It was deleted elsewhere.
      if (found.status === 404) this.error.value = found;
    } else if (found) this.session.value = found as Session;
  }

  close(): void {
    this.ended.abort();
    this.endListening();
  }

  /** Show what another window or device has sent. */
  private async catchUp(): Promise<void> {
    if (!this.id || this.isRunning.value || this.isLoading.value || this.error.value) return;
    const params = { session: this.id };
    const [found, { active }] = await Promise.all([
      api.get("/api/chat/{session}", { params, query: { limit: 20 } }),
      api.get("/api/chat/{session}/stream-status", { params }),
    ]);
    if (this.isRunning.value || this.ended.signal.aborted) return;
    const said = found.messages.findLast(({ role }) => role === "user")?.id;
    if (active) {
      this.isRunning.value = true;
      await this.follow();
    } else if (said && !this.messages.value.some(({ id }) => id === said)) await this.open(true);
  }

  /** Send a message: a new turn, or a word more in the one that runs; `onKept` hears that it is on this device. Behind others that wait it waits, too. */
  async send(text: string, attachments: Attachment[] = [], beginning: Beginning = {}, onKept?: () => void): Promise<void> {
    const chat = { session: this.id, beginning: this.id ? undefined : beginning };
    const files = attachments.length ? attachments.map(({ fileName }) => fileName) : undefined;
    const letter: Letter = { id: newKey(), kind: "chat", at: timeOfNow(), date: "", content: text, files, chat };
    // The first message of a conversation may be on its way: another one beside it would begin one of its own.
    const isBehind = (this.isRunning.value && !this.id) || waitingIn(this.id).some(({ isRefused }) => !isRefused);
    const begin = (onHeard?: () => void) => (this.isRunning.value && this.id ? this.inject(letter, onHeard) : this.begin(letter, attachments, beginning, onHeard));
    // Once this screen is left nobody sees the field into which it would come back.
    const orWait = (error: unknown) => Promise.reject(this.ended.signal.aborted ? new ApiError(0, "not_sent", "") : error);
    await sendKept(letter, attachments, { keeps: beginning.continuedFrom === undefined, isBehind, begin: (heard) => begin(heard).catch(orWait), onKept });
  }

  private async inject({ id, content }: Letter, onHeard?: () => void): Promise<void> {
    await api.post("/api/chat/{session}/inject", { params: { session: this.id ?? "" }, body: { message: content, idempotency_key: id } });
    await remove(id).catch(() => undefined).finally(onHeard);
  }

  private async begin(letter: Letter, attachments: Attachment[], beginning: Beginning, onHeard?: () => void): Promise<void> {
    this.last = { text: letter.content, attachments };
    this.onHeard = (session) => void remove(letter.id, session).catch(() => undefined).finally(onHeard);
    this.branchedFrom = beginning.continuedFrom ?? null;
    const begun = performance.now();
    const mine = { ...this.message("user", letter.content), files: attachments.map(shown) };
    this.isHeard = false;
    batch(() => {
      this.isRunning.value = true;
      this.messages.value = [...this.messages.value, mine];
      this.pace.now({ key: `live-${begun}`, role: "assistant", parts: [] });
    });
    const body = messageOf({ ...letter, chat: { session: this.id, beginning } }, attachments);
    try {
      await this.take(events<ChatEvent>("POST", "/api/chat?text=delta", { body, signal: this.ended.signal }));
      if (this.isRunning.value) await this.follow();
    } catch (error) {
      if (this.ended.signal.aborted && this.isHeard) return;
      if (!this.isHeard) {
        // It has not begun: the message goes back to whoever wrote it.
        batch(() => {
          this.messages.value = this.messages.value.filter(({ key }) => key !== mine.key);
          this.finish();
        });
        throw error;
      }
      if (this.id && error instanceof ApiError && error.status === 0) await this.follow();
      else this.fail(error);
    }
  }

  /** Say something else in the place of a message, in a branch that shows what was said before it; `onBegun`: it has begun. */
  async branch(message: Message, text: string, onBegun?: () => void): Promise<void> {
    const messages = this.messages.value;
    const place = messages.findIndex(({ id }) => id === message.id);
    const [id, session] = [this.id, this.session.value];
    if (!id || !message.id || place < 0 || this.isRunning.value) return;
    const files = await attached(id, message.files ?? []);
    // Sent twice at once, it has begun by now.
    if (id !== this.id || this.isRunning.value) return;
    this.id = undefined;
    this.messages.value = messages.slice(0, place);
    this.onBranched = onBegun;
    try {
      await this.send(text, files, { continuedFrom: id, continuedBefore: message.id });
    } catch (error) {
      if (!this.id) {
        batch(() => {
          this.id = id;
          this.session.value = session;
          this.messages.value = messages;
        });
      }
      throw error;
    }
  }

  /** Have a message answered once more, beside the answer that there is; one of which nothing was kept is sent again. */
  async answerAgain(asked: Message): Promise<void> {
    try {
      await this.branch(asked, textOf(asked));
    } catch (error) {
      if (!(error instanceof ApiError) || error.key !== "message_not_found") throw error;
      await this.send(textOf(asked), await attached(this.id ?? "", asked.files ?? []));
    }
  }

  /** Send the last message once more. */
  again(): Promise<void> {
    const { text, attachments } = this.last;
    return this.send(text || textOf(this.messages.value.findLast(({ role }) => role === "user") ?? this.message("user", "")), attachments);
  }

  async stop(): Promise<void> {
    if (this.id) await api.post("/api/chat/{session}/abort", { params: { session: this.id } });
  }

  async answer(answers: Record<string, string | string[]>): Promise<void> {
    const asked = this.question.value;
    if (!asked || !this.id) return;
    await api.post("/api/chat/{session}/answer", { params: { session: this.id }, body: { request_id: asked.requestId, answers } });
    this.question.value = undefined;
  }

  async permit(allow: boolean, grant?: string): Promise<void> {
    const asked = this.permission.value;
    if (!asked || !this.id) return;
    const params = { session: this.id, request_id: asked.requestId };
    await api.post("/api/chat/{session}/permissions/{request_id}", { params, body: { allow, ...(grant && { grant }) } });
    this.permission.value = undefined;
  }

  /** Read the run from its beginning until it has ended, also when the connection breaks in between. */
  private async follow(): Promise<void> {
    while (!this.ended.signal.aborted && this.id) {
      // A browser has few connections to a computer: a window that nobody sees needs none for this.
      const isSeen = await seen(this.ended.signal);
      try {
        const options = { signal: AbortSignal.any([this.ended.signal, isSeen]) };
        await this.take(events<ChatEvent>("GET", `/api/chat/${this.id}/events?text=delta`, options), true);
        if (!this.isRunning.value) return;
      } catch (error) {
        if (this.ended.signal.aborted) return;
        if (isSeen.aborted) continue;
        if (!(error instanceof ApiError) || error.status !== 0) return this.fail(error);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  private async take(stream: AsyncGenerator<ChatEvent>, isReplay = false): Promise<void> {
    let isFirst = isReplay;
    for await (const event of stream) {
      if (this.ended.signal.aborted) return;
      batch(() => {
        if (event.type === "user_message" && isFirst) this.rewind(event);
        else if (event.type === "user_message" && event.content !== this.lastUserText()) this.interject(event.content);
        if (event.type === "user_message") {
          isFirst = false;
          this.name(event.id);
        }
        this.see(event);
      });
    }
  }

  /** Forget what is shown of the run that now comes again from its beginning. */
  private rewind({ content, id }: { content: string; id: string }): void {
    const messages = this.messages.value;
    const known = messages.findIndex((message) => message.id === id);
    const newest = messages.findLastIndex(({ role }) => role === "user");
    const isNewest = messages[newest] !== undefined && !messages[newest].id && textOf(messages[newest]) === content;
    const from = known < 0 && isNewest ? newest : known;
    const before = from < 0 ? messages : messages.slice(0, from);
    this.messages.value = [...before, messages[from] ?? this.message("user", content)];
    this.pace.now({ key: `live-${performance.now()}`, role: "assistant", parts: [] });
    this.isRunning.value = true;
  }

  /** Give the newest message of the person the name that the computer has for it. */
  private name(id: string): void {
    const messages = this.messages.value;
    const place = messages.findLastIndex(({ role }) => role === "user");
    this.messages.value = messages.map((message, index) => (index === place ? { ...message, id } : message));
  }

  /** A message that was put into the running turn: what the agent has said until then stands before it. */
  private interject(text: string): void {
    const live = this.pace.message;
    const said = live?.parts.length ? [live] : [];
    this.messages.value = [...this.messages.value, ...said, this.message("user", text)];
    this.pace.now({ key: `live-${performance.now()}`, role: "assistant", parts: [] });
  }

  private see(event: ChatEvent): void {
    this.isHeard = true;
    if (event.type === "session") {
      this.onHeard?.(event.sessionId);
      this.onHeard = undefined;
      this.known(event.sessionId, event.title, event.trustLevel);
    }
    if (event.type === "user_question") this.question.value = event;
    if (event.type === "permission_request") this.permission.value = event;
    const live = this.pace.message ?? { key: `live-${event.seq}`, role: "assistant" as const, parts: [] };
    const parts = added(live.parts, event);
    const isText = event.type === "text" || event.type === "text_delta";
    if (parts !== live.parts) this.pace[isText ? "soon" : "now"]({ ...live, parts });
    if (event.type === "done" && this.session.value) this.session.value = { ...this.session.value, title: event.title };
    if (ENDS.has(event.type)) this.finish();
  }

  private known(id: string, title: string | null, trustLevel: string): void {
    const isNew = !this.id;
    if (isNew) this.id = id;
    const before = this.session.value;
    this.session.value = {
      ...(before ?? { agentPath: null, agentName: null, effectiveExecutionMode: null, workspaceId: null, workingDirectory: null, model: null, archived: false, source: "parachute", continuedFrom: this.branchedFrom }),
      id,
      title,
      trustLevel,
    };
    if (!isNew) return;
    if (this.branchedFrom) void this.beginBranch(id);
    this.onBranched?.();
    this.onBranched = undefined;
    this.onBegun(id, this.branchedFrom !== null);
  }

  /** See what a branch has; where nothing could be copied it begins with its own message. */
  private async beginBranch(id: string): Promise<void> {
    const found = await api.get("/api/chat/{session}", { params: { session: id }, query: { limit: 1 } });
    if (id !== this.id) return;
    this.session.value = found;
    if (!found.metadata.branch) this.messages.value = this.messages.value.slice(this.messages.value.findLastIndex(({ role }) => role === "user"));
    await this.lookAgain(false);
  }

  private finish(): void {
    const live = this.pace.message;
    if (live?.parts.length) this.messages.value = [...this.messages.value, live];
    this.pace.now(undefined);
    this.isRunning.value = false;
    this.question.value = undefined;
    this.permission.value = undefined;
  }

  private fail(error: unknown): void {
    batch(() => {
      const live = this.pace.message ?? { key: `live-${performance.now()}`, role: "assistant" as const, parts: [] };
      this.pace.now({ ...live, parts: [...live.parts, { kind: "note", level: "danger", text: explain(error), canRetry: true }] });
      this.finish();
    });
  }

  private lastUserText(): string {
    const last = this.messages.value.findLast(({ role }) => role === "user");
    return last ? textOf(last) : "";
  }

  private message(role: "user" | "assistant", text: string): Message {
    this.count += 1;
    return { key: `own-${this.count}`, role, parts: text ? [{ kind: "text", text }] : [], time: new Date().toISOString() };
  }
}
