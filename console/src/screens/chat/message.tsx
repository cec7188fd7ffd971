/** A message with its parts; tool calls and thoughts are folded. */
import { useMemo, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { Details } from "~/components/details";
import { Picture } from "~/components/picture";
import { draftOf } from "~/state/drafts";
import { toast } from "~/state/toasts";
import { copy as copyText } from "~/text/clipboard";
import { Markdown } from "~/text/markdown";
import { Actions } from "./actions";
import type { Conversation } from "./conversation";
import { Editing, editName } from "./editing";
import { type Message, type MessageFile, type Part, textOf } from "./events";
import { t as composing } from "./composer_texts";
import { t as named } from "./log_texts";
import { t } from "./texts";
import type { Point } from "./versions";

interface Props {
  conversation: Conversation;
  message: Message;
  isLive?: boolean;
  /** The message of the person that it answers, or that it is, and the versions of that. */
  asked?: Message;
  point?: Point;
  isLast?: boolean;
  /** A search has found it. */
  isFound?: boolean;
}

export function MessageView({ conversation, message, isLive = false, asked, point, isLast = false, isFound = false }: Props) {
  const [isEdited, setEdited] = useState(() => message.role === "user" && message.id !== undefined && draftOf(editName(conversation, message)) !== "");
  // What was seen whole stays so.
  const [isFolded, setFolded] = useState(() => !isLive && !isLast && isLong(message));
  return useMemo(() => {
    const onRetry = isLast ? () => conversation.again() : undefined;
    return (
      <article id={`message-${message.key}`} class={`message ${message.role}`} aria-label={message.role === "user" ? t("you") : t("agent")}>
        {isEdited ? (
          <Editing conversation={conversation} message={message} onClose={() => setEdited(false)} />
        ) : message.isSummary ? (
          <details class="fold">
            <summary>{t("summary")}</summary>
            <Parts message={message} isLive={false} />
          </details>
        ) : isFolded && !isFound ? (
          <>
            <div class="folded" inert>
              <Parts message={message} isLive={false} />
            </div>
            <Button label={named("show_all")} icon="down" kind="quiet" onPress={() => setFolded(false)} />
          </>
        ) : (
          <Parts message={message} isLive={isLive} onRetry={onRetry} />
        )}
        {message.files && message.files.length > 0 && <Files files={message.files} />}
        {!isLive && !isEdited && (
          <Actions
            conversation={conversation}
            message={message}
            asked={asked}
            point={point}
            isLast={isLast}
            onCopy={() => copy(message)}
            onEdit={() => setEdited(true)}
          />
        )}
      </article>
    );
  }, [message, isLive, asked?.id, point, isLast, isFound, isEdited, isFolded]);
}

/** A message is folded if it has more text than a few screens. */
function isLong(message: Message): boolean {
  const text = textOf(message);
  return text.length > 5000 || text.split("\n").length > 80;
}

interface PartsProps {
  message: Message;
  isLive: boolean;
  onRetry?: () => void;
}

export function Parts({ message, isLive, onRetry }: PartsProps) {
  return (
    <>
      {message.parts.map((part, index) => (
        <PartView
          key={index}
          part={part}
          isOpen={isLive && index === message.parts.length - 1}
          isPlain={message.role === "user"}
          onRetry={onRetry}
        />
      ))}
    </>
  );
}

function Files({ files }: { files: MessageFile[] }) {
  return (
    <ul class="attachments sent" aria-label={t("files")}>
      {files.map((file, index) => (
        <li key={index}>
          <FileView {...file} />
        </li>
      ))}
    </ul>
  );
}

function FileView({ name, address, isPicture }: MessageFile) {
  const [isBroken, setBroken] = useState(false);
  if (isPicture && address && !isBroken) return <Picture address={address} name={name} onError={() => setBroken(true)} />;
  const chip = (
    <span class={`badge${isBroken ? " danger" : ""}`}>
      <Icon name={isPicture ? "image" : "attach"} />
      <bdi>{name}</bdi>
    </span>
  );
  if (isBroken) return <span class="file-broken">{chip} <span class="muted">{composing("file_gone")}</span></span>;
  return address ? (
    <a href={address} download={name}>
      {chip}
    </a>
  ) : (
    chip
  );
}

function PartView({ part, isOpen, isPlain, onRetry }: { part: Part; isOpen: boolean; isPlain: boolean; onRetry?: () => void }) {
  switch (part.kind) {
    case "text":
      if (part.text.length > MOST_DRAWN) return <LongText text={part.text} />;
      return isPlain ? <p class="plain-text" dir="auto">{part.text}</p> : <Markdown text={part.text} isOpen={isOpen} />;
    case "thinking":
      return (
        <details class="fold">
          <summary>{t("thinking")}</summary>
          <p class="plain-text muted">{part.text}</p>
        </details>
      );
    case "tool":
      return <Tool part={part} isOpen={isOpen} />;
    case "note":
      return (
        <div class={`notice ${part.level}`}>
          {part.title && <strong>{part.title}</strong>}
          <p class="plain-text">{part.text}</p>
          {part.canRetry && onRetry && <Button label={t("again")} icon="refresh" onPress={onRetry} />}
        </div>
      );
  }
}

const MOST_DRAWN = 50_000;

/** The beginning of a text that is longer than anybody reads; the button that copies has all of it. */
function LongText({ text }: { text: string }) {
  return (
    <>
      <p class="plain-text" dir="auto">{text.slice(0, MOST_DRAWN)}</p>
      <p class="muted">{t("shortened", { shown: MOST_DRAWN, n: text.length })}</p>
    </>
  );
}

const TELLING = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt", "skill"];

/** The few words of a tool call that say what it is about. */
function gist(input: Record<string, unknown>): string {
  const name = TELLING.find((key) => typeof input[key] === "string");
  return name ? String(input[name]).split("\n", 1)[0]?.slice(0, 160) ?? "" : "";
}

function Tool({ part, isOpen }: { part: Extract<Part, { kind: "tool" }>; isOpen: boolean }) {
  const [isUnfolded, setUnfolded] = useState(false);
  const isRunning = isOpen && part.result === undefined;
  return (
    <details class={`fold tool${part.isError ? " failed" : ""}`} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
      <summary>
        <strong>{part.name === "AskUserQuestion" ? t("tool_question") : part.name}</strong>
        <bdi>{(isRunning && part.progress) || gist(part.input)}</bdi>
        {isRunning && <span class="spinner" role="img" aria-label={t("tool_running")} />}
        {part.isError && <span class="badge danger">{t("tool_failed")}</span>}
      </summary>
      {isUnfolded && (
        <>
          <p><strong>{t("input")}</strong></p>
          <Details value={part.input} />
          {part.result !== undefined && (
            <>
              <p><strong>{t("result")}</strong></p>
              <pre class="text-block" tabIndex={0}>{part.result.slice(0, MOST_DRAWN)}</pre>
              {part.result.length > MOST_DRAWN && <p class="muted">{t("shortened", { shown: MOST_DRAWN, n: part.result.length })}</p>}
            </>
          )}
        </>
      )}
    </details>
  );
}

async function copy(message: Message): Promise<void> {
  await copyText(textOf(message));
  toast(t("copied"));
}
