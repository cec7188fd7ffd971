/** Writing an entry: words, a picture, or a recording of one's voice. What is not sent yet stays while one looks elsewhere. */
import type { Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { canRecord, record, type Recorder } from "~/state/recording";
import { toast } from "~/state/toasts";
import { keepAsset, newKey, write } from "./data";
import { t } from "./texts";

const drafts = new Map<string, { text: string; key: string }>();

interface Props {
  date: string;
  field: Ref<HTMLTextAreaElement>;
  onWritten: () => Promise<void>;
}

export function Composer({ date, field, onWritten }: Props) {
  const [draft, setDraft] = useState(drafts.get(date) ?? { text: "", key: newKey() });
  const [recorder, setRecorder] = useState<Recorder>();
  const chooser = useRef<HTMLInputElement>(null);
  const change = (next: { text: string; key: string }) => {
    if (next.text) drafts.set(date, next);
    else drafts.delete(date);
    setDraft(next);
  };
  const say = (text: string) => change({ ...draft, text });
  const sent = async () => {
    change({ text: "", key: newKey() });
    toast(t("written"));
    await onWritten();
  };
  const send = async () => {
    if (!draft.text.trim()) return;
    await write({ content: draft.text, date, idempotency_key: draft.key });
    await sent();
  };
  const addPicture = async (file: File) => {
    const path = await keepAsset(file.name, date, file);
    const alt = file.name.replace(/[[\]]/g, "");
    say(`${draft.text}${draft.text ? "\n\n" : ""}![${alt}](${path})`);
  };
  const keepRecording = async () => {
    if (!recorder) return;
    const { data, seconds, name } = await recorder.stop();
    setRecorder(undefined);
    const path = await keepAsset(name, date, data);
    await write({ content: draft.text, date, audio_path: path, duration: seconds, idempotency_key: draft.key });
    await sent();
  };
  const drop = () => {
    recorder?.drop();
    setRecorder(undefined);
  };
  // Whoever leaves in the middle of a recording is not listened to any more.
  const open = useRef(recorder);
  open.current = recorder;
  useEffect(() => () => open.current?.drop(), []);
  return (
    <form
      class="journal-composer"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.querySelector<HTMLButtonElement>(".primary")?.click();
      }}
    >
      <textarea
        ref={field}
        rows={Math.min(12, Math.max(3, draft.text.split("\n").length + 1))}
        value={draft.text}
        aria-label={t("new_entry")}
        placeholder={t("new_entry_hint")}
        onInput={(event) => say(event.currentTarget.value)}
      />
      {recorder ? (
        <div class="journal-composer-actions">
          <Elapsed recorder={recorder} />
          <Button label={t("drop_recording")} icon="trash" onPress={drop} />
          <Button label={t("keep_recording")} icon="check" kind="primary" onPress={keepRecording} />
        </div>
      ) : (
        <div class="journal-composer-actions">
          <input
            ref={chooser}
            type="file"
            accept="image/*"
            hidden
            aria-label={t("add_picture")}
            onChange={async (event) => {
              const chosen = event.currentTarget;
              const file = chosen.files?.[0];
              if (file) await addPicture(file).finally(() => (chosen.value = ""));
            }}
          />
          <Button label={t("add_picture")} icon="image" iconOnly kind="quiet" onPress={() => chooser.current?.click()} />
          {canRecord() && (
            <Button label={t("record")} icon="microphone" iconOnly kind="quiet" onPress={async () => setRecorder(await record())} />
          )}
          <Button label={t("write")} kind="primary" disabled={!draft.text.trim()} onPress={send} />
        </div>
      )}
    </form>
  );
}

function Elapsed({ recorder }: { recorder: Recorder }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(recorder.seconds()), 500);
    return () => clearInterval(timer);
  }, [recorder]);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return (
    <p class="elapsed">
      <span role="status">{t("recording_now")}</span> <span>{time}</span>
    </p>
  );
}
