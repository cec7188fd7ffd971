/** Editor of a message, with its files. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { useDrop } from "~/components/drop";
import { Icon } from "~/components/icons";
import { joined, type Say, useFileDraft, withoutSent } from "~/state/drafts";
import { filesOf, remove } from "~/state/letters";
import { here } from "~/state/router";
import { attempt } from "~/state/toasts";
import { type Attachment, read, shown } from "./attachments";
import { t } from "./composer_texts";
import { Dictation } from "./dictation";
import { sharedFor } from "./shared";
import type { Place } from "./suggesting";
import { Suggestions, useSuggestions } from "./suggestions";

interface Props {
  isRunning: boolean;
  draft: string;
  place: Place;
  onDraft: Say;
  /** `onKept`: the words are safe. */
  onSend: (text: string, attachments: Attachment[], onKept: () => void) => Promise<void>;
  /** Name of the draft that the files belong to. */
  name: string;
  onStop: () => Promise<void>;
}

export function Composer({ isRunning, draft, name, place, onDraft, onSend, onStop }: Props) {
  const [attachments, setAttachments] = useFileDraft<Attachment>(name);
  const [refused, setRefused] = useState<string[]>([]);
  /** Place of the cursor while the field has the focus. */
  const [cursor, setCursor] = useState<number>();
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);

  const suggesting = useSuggestions(draft, cursor, place, (text, at) => {
    onDraft(text);
    setCursor(at);
    const area = field.current;
    if (!area) return;
    area.value = text;
    area.focus();
    area.setSelectionRange(at, at);
  });
  // One after the other: each counts what the ones before have brought.
  const reading = useRef<Promise<boolean>>(Promise.resolve(true));
  const count = useRef(0);
  count.current = attachments.length;
  const add = (files: File[]) => {
    reading.current = reading.current.then(async () => {
      const { found, refused: others } = await read(files, count.current);
      setAttachments((before) => [...before, ...found]);
      setRefused((before) => [...before, ...others]);
      count.current += found.length;
      return others.length === 0;
    });
    return reading.current;
  };
  /** The thing that another app has shared, once it is wholly in this message: it is forgotten when that is sent. */
  const shared = useRef<string>(undefined);
  useEffect(() => {
    const id = here().query.get("shared");
    if (!id) return;
    void attempt(async () => {
      const found = await sharedFor(id);
      if (!found) return;
      if (!draft.includes(found.content)) onDraft([draft.trim(), found.content].filter(Boolean).join("\n\n"));
      // Not once more when the page is loaded again.
      const there = new Set((await filesOf<Attachment>(`draft/${name}`).catch(() => [])).map((file) => file.fileName));
      if (await add(found.files.filter((file) => !there.has(file.name)))) shared.current = id;
    });
  }, []);
  // A picture may say it all.
  const canBeSent = draft.trim() !== "" || (attachments.length > 0 && !isRunning);
  const isTaking = useRef(false);
  const submit = async () => {
    const text = draft.trim();
    if (!canBeSent || isTaking.current) return;
    isTaking.current = true;
    // What is put into a turn that runs goes without files: they stay for the next one.
    const files = isRunning ? [] : attachments;
    let isKept = false;
    const onKept = () => {
      isKept = true;
      isTaking.current = false;
      onDraft((now) => withoutSent(now, text));
      setRefused([]);
      setAttachments((now) => now.filter((file) => !files.includes(file)));
    };
    // A message that was refused before it began comes back into the field, before what was typed meanwhile.
    const sent = await attempt(async () => {
      await onSend(text, [...files], onKept);
      return true;
    });
    isTaking.current = false;
    if (sent && shared.current && !isRunning) await remove(shared.current);
    if (!sent && isKept) {
      onDraft((now) => joined(text, now));
      setAttachments((now) => [...files, ...now]);
    }
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggesting.onKey(event)) return;
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
    event.preventDefault();
    void submit();
  };
  const look = () => setCursor(field.current?.selectionStart);
  const isSuggesting = suggesting.found.length > 0;
  const drop = useDrop((files) => void add(files));
  return (
    <form
      class={`composer${drop.isOver ? " over" : ""}`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      {...drop.heard}
    >
      <Suggestions {...suggesting} />
      <Chosen
        attachments={attachments}
        refused={refused}
        onRemove={(file) => setAttachments((before) => before.filter((other) => other !== file))}
        onForget={(text) => setRefused(refused.filter((other) => other !== text))}
      />
      {isRunning && attachments.length > 0 && <p class="muted composer-note">{t("files_wait")}</p>}
      <div class="composer-row">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-hidden="true"
          onChange={(event) => {
            // A copy: the list is emptied below, before the files are read.
            add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        {!isRunning && <Button label={t("attach")} icon="attach" iconOnly kind="quiet" onPress={() => picker.current?.click()} />}
        {!isRunning && <Dictation onText={(text) => onDraft(draft.trim() ? `${draft.trimEnd()} ${text}` : text)} />}
        <textarea
          ref={field}
          rows={1}
          value={draft}
          placeholder={t(attachments.length ? "placeholder_files" : "placeholder")}
          aria-label={t("message")}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isSuggesting ? suggesting.id : undefined}
          aria-activedescendant={isSuggesting ? `${suggesting.id}-${suggesting.chosen}` : undefined}
          onInput={(event) => {
            onDraft(event.currentTarget.value);
            look();
          }}
          onSelect={look}
          onBlur={() => setCursor(undefined)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length) add(files);
          }}
        />
        {isRunning && <Button label={t("stop")} icon="stop" iconOnly kind="danger" onPress={onStop} />}
        {(!isRunning || draft.trim()) && (
          <Button label={isRunning ? t("add") : t("send")} icon="send" iconOnly kind="primary" submit disabled={!canBeSent} />
        )}
      </div>
    </form>
  );
}

interface ChosenProps {
  attachments: readonly Attachment[];
  refused: string[];
  onRemove: (file: Attachment) => void;
  onForget: (text: string) => void;
}

/** The files that go with the message, and why others do not. */
function Chosen({ attachments, refused, onRemove, onForget }: ChosenProps) {
  if (attachments.length + refused.length === 0) return null;
  return (
    <ul class="attachments">
      {attachments.map((file, index) => (
        <li key={index} class="badge">
          {file.type === "image" ? <img class="attached-picture" src={shown(file).address} alt="" /> : <Icon name="attach" />}
          <bdi>{file.fileName}</bdi>
          <Button label={t("remove", { name: file.fileName })} icon="close" iconOnly kind="quiet" onPress={() => onRemove(file)} />
        </li>
      ))}
      {refused.map((text) => (
        <li key={text} class="badge danger refused">
          <span role="alert">{text}</span>
          <Button label={t("remove", { name: text })} icon="close" iconOnly kind="quiet" onPress={() => onForget(text)} />
        </li>
      ))}
    </ul>
  );
}
