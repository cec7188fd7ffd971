/** The events of a chat, as docs/api.md lists them, and what they make of a message. */
import { address } from "~/api/client";
import type { Schema } from "~/api/client";
import type { Question } from "~/components/questions";
import { t } from "./texts";

export type Part =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "tool"; id: string; name: string; input: Record<string, unknown>; progress?: string; result?: string; isError?: boolean }
  | { kind: "note"; level: "plain" | "warning" | "danger"; title?: string; text: string; canRetry?: boolean };

export interface Message {
  key: string;
  role: "user" | "assistant";
  parts: Part[];
  time?: string;
  isSummary?: boolean;
  /** By which the computer knows it. */
  id?: string;
  files?: MessageFile[];
}

/** A file that went with a message; one that is just being sent has an address only if it is a picture. */
export interface MessageFile {
  name: string;
  address?: string;
  isPicture: boolean;
}

export interface PermissionRequest {
  requestId: string;
  toolName: string;
  input: Record<string, unknown>;
  reason: string;
  suggestedGrants: string[];
}

export type ChatEvent = { seq: number } & (
  | { type: "session"; sessionId: string; trustLevel: string; title: string | null }
  | { type: "user_message"; content: string; id: string }
  | { type: "text"; content: string }
  | { type: "text_delta"; text: string }
  | { type: "thinking"; content: string }
  | { type: "tool_use"; tool: { id: string; name: string; input: Record<string, unknown> } }
  | { type: "tool_progress"; toolUseId: string; message: string }
  | { type: "tool_result"; toolUseId: string; content: string; isError: boolean }
  | { type: "user_question"; requestId: string; questions: Question[] }
  | ({ type: "permission_request" } & PermissionRequest)
  | { type: "permission_denied"; toolName: string; reason: string }
  | { type: "warning"; title: string; message: string; details: string[]; key?: string }
  | { type: "session_unavailable"; message: string }
  | { type: "model"; model: string }
  | { type: "done"; sessionId: string; title: string | null }
  | { type: "aborted"; message: string }
  | { type: "typed_error"; title: string; message: string; canRetry: boolean }
  | { type: "error"; error: string }
);

export const ENDS: ReadonlySet<string> = new Set(["done", "aborted", "typed_error", "error"]);

/** The parts of an answer after one more event; the same array if nothing of it is shown. */
export function added(parts: Part[], event: ChatEvent): Part[] {
  const last = parts.at(-1);
  switch (event.type) {
    case "text_delta":
      return last?.kind === "text"
        ? [...parts.slice(0, -1), { kind: "text", text: last.text + event.text }]
        : [...parts, { kind: "text", text: event.text }];
    case "text": {
      // It is all text since the last tool call, and replaces what is shown of that.
      const before = parts.slice(0, parts.findLastIndex(({ kind }) => kind === "tool") + 1);
      return [...before, { kind: "text", text: event.content }];
    }
    case "thinking":
      return [...parts, { kind: "thinking", text: event.content }];
    case "tool_use":
      return [...parts, { kind: "tool", ...event.tool }];
    case "tool_progress":
      return ofTool(parts, event.toolUseId, { progress: event.message });
    case "tool_result":
      return ofTool(parts, event.toolUseId, { result: event.content, isError: event.isError });
    case "permission_denied":
      return [...parts, note("warning", t("denied", { tool: event.toolName, reason: event.reason }))];
    case "warning":
      // What waits of the changes is a card at the end of the turn.
      if (event.key === "changes_wait") return parts;
      return [...parts, { ...note("warning", [event.message, ...event.details].join("\n")), title: event.title }];
    case "session_unavailable":
      return [...parts, { ...note("warning", t("unavailable")), canRetry: true }];
    case "aborted":
      return [...parts, note("plain", event.message)];
    case "typed_error":
      return [...parts, { ...note("danger", event.message), title: event.title, canRetry: event.canRetry }];
    case "error":
      return [...parts, note("danger", event.error)];
    default:
      return parts;
  }
}

function ofTool(parts: Part[], id: string, more: { progress?: string; result?: string; isError?: boolean }): Part[] {
  return parts.map((part) => (part.kind === "tool" && part.id === id ? { ...part, ...more } : part));
}

function note(level: "plain" | "warning" | "danger", text: string): Extract<Part, { kind: "note" }> {
  return { kind: "note", level, text };
}

/** Messages of a session as the server keeps them; what an agent said between two messages of a person is one. */
export function stored(session: string, messages: readonly Schema<"Message">[]): Message[] {
  const found: Message[] = [];
  for (const [index, message] of messages.entries()) {
    const said = message.said ? [{ type: "text" as const, text: message.said }] : [];
    const blocks = message.said === undefined ? message.content : said;
    const parts = blocks.map((block): Part => {
      if (block.type === "text") return { kind: "text", text: block.text };
      return { kind: "tool", id: block.id, name: block.name, input: block.input, result: block.result, isError: block.isError };
    });
    const { role } = message;
    const files = message.attachments?.map((name) => ({ name, address: fileAddress(session, name), isPicture: isPicture(name) }));
    const last = found.at(-1);
    // Files stand below the words that they came with.
    const isMore = last?.role === "assistant" && role === "assistant" && !last.files && !files;
    if (isMore) last.parts = [...last.parts, ...parts];
    else {
      found.push({
        key: message.id ?? `stored-${index}`,
        role,
        parts,
        time: message.timestamp ?? undefined,
        isSummary: message.isCompactSummary,
        id: message.id ?? undefined,
        files,
      });
    }
  }
  return found;
}

const isPicture = (name: string) => /\.(png|jpe?g|gif|webp)$/i.test(name);

/** The address of a file that went with a message of a session. */
function fileAddress(session: string, name: string): string {
  return address("/api/chat/{session}/attachments/{name}", { params: { session, name } });
}

export function textOf(message: Message): string {
  return message.parts.map((part) => (part.kind === "text" ? part.text : "")).filter(Boolean).join("\n\n");
}
