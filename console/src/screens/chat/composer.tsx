/** Editor of a message, with its files. */
import { useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { attempt, toast } from "~/state/toasts";
import { type Attachment, read } from "./attachments";
import { Dictation } from "./dictation";
import { t } from "./texts";

interface Props {
  isRunning: boolean;
  draft: string;
  onDraft: (text: string) => void;
  onSend: (text: string, attachments: Attachment[]) => Promise<void>;
  onStop: () => Promise<void>;
}

export function Composer({ isRunning, draft, onDraft, onSend, onStop }: Props) {
  const [attachments, setAttachments] = useState<Attachment[]>([]);
  const [isDraggedOver, setDraggedOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);

  const add = (files: Iterable<File>) =>
    attempt(async () => {
      try {
        setAttachments(await read(files, attachments));
      } catch (error) {
        toast(error instanceof Error ? error.message : String(error), { isError: true });
      }
    });
  const submit = async () => {
    const text = draft.trim();
    if (!text) return;
    const files = attachments;
    onDraft("");
    setAttachments([]);
    // A message that was refused before it began comes back into the field.
    const sent = await attempt(async () => {
      await onSend(text, files);
      return true;
    });
    if (!sent) {
      onDraft(text);
      setAttachments(files);
    }
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form
      class={`composer${isDraggedOver ? " over" : ""}`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setDraggedOver(true);
      }}
      onDragLeave={() => setDraggedOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDraggedOver(false);
        void add([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {attachments.length > 0 && (
        <ul class="attachments">
          {attachments.map((file, index) => (
            <li key={index} class="badge">
              <Icon name={file.type === "image" ? "image" : "attach"} />
              <bdi>{file.fileName}</bdi>
              <Button
                label={t("remove", { name: file.fileName })}
                icon="close"
                iconOnly
                kind="quiet"
                onPress={() => setAttachments(attachments.filter((other) => other !== file))}
              />
            </li>
          ))}
        </ul>
      )}
      <div class="composer-row">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-hidden="true"
          onChange={(event) => {
            // A copy: the list is emptied below, before the files are read.
            void add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        {!isRunning && <Button label={t("attach")} icon="attach" iconOnly kind="quiet" onPress={() => picker.current?.click()} />}
        {!isRunning && <Dictation onText={(text) => onDraft(draft.trim() ? `${draft.trimEnd()} ${text}` : text)} />}
        <textarea
          ref={field}
          rows={1}
          value={draft}
          placeholder={t("placeholder")}
          aria-label={t("message")}
          onInput={(event) => onDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length) void add(files);
          }}
        />
        {isRunning && <Button label={t("stop")} icon="stop" iconOnly kind="danger" onPress={onStop} />}
        {(!isRunning || draft.trim()) && (
          <Button label={isRunning ? t("add") : t("send")} icon="send" iconOnly kind="primary" submit disabled={!draft.trim()} />
        )}
      </div>
    </form>
  );
}
