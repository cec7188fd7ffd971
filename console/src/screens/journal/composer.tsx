/** Writing an entry: words, a picture, or a recording of one's voice. It is on the disk of this device before it is sent. */
import type { Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { clock, Room } from "~/components/unsent";
import { draftOf, keepDraft } from "~/state/drafts";
import { keepAsset, newKey } from "~/state/entries";
import { type Letter, put, remove } from "~/state/letters";
import { deliver, later, prepare } from "~/state/outbox";
import { canRecord, record, type Recorder } from "~/state/recording";
import { toast } from "~/state/toasts";
import { t } from "./texts";

interface Props {
  date: string;
  field: Ref<HTMLTextAreaElement>;
  onWritten: () => Promise<void>;
}

export function Composer({ date, field, onWritten }: Props) {
  const name = `journal/${date}`;
  const [draft, setDraft] = useState(() => draftOf(name));
  const [recorder, setRecorder] = useState<Recorder>();
  const chooser = useRef<HTMLInputElement>(null);
  // What is typed while something is on its way stays.
  const typed = useRef(draft);
  const say = (text: string) => {
    typed.current = text;
    keepDraft(name, text);
    setDraft(text);
  };
  const take = (text: string) => say(typed.current.startsWith(text) ? typed.current.slice(text.length).trimStart() : typed.current);
  const join = (...texts: string[]) => say(texts.filter(Boolean).join("\n\n"));
  const send = async (letter: Letter) => {
    // A private window may keep nothing: then the text stays in the field until it has arrived.
    const isKept = await put(letter).then(() => true, () => false);
    if (isKept) take(letter.content);
    try {
      await deliver(letter);
    } catch (error) {
      if (!isKept) throw error;
      // What was refused comes back to whoever wrote it; what did not arrive waits here.
      if (!letter.sound && error instanceof ApiError && error.status >= 400 && error.status < 500) {
        await remove(letter.id);
        join(letter.content, typed.current);
        throw error;
      }
      later();
      return;
    }
    if (!isKept) take(letter.content);
    toast(t("written"));
    await onWritten();
  };
  const sendText = async () => {
    if (draft.trim()) await send({ id: newKey(), kind: "journal", at: new Date().toISOString(), date, content: draft });
  };
  const addPicture = async (file: File) => {
    const { path } = await keepAsset(file.name, date, file);
    const alt = file.name.replace(/[[\]]/g, "");
    join(typed.current, `![${alt}](${path})`);
  };
  const keepRecording = async () => {
    if (!recorder) return;
    const stopped = recorder.stop();
    setRecorder(undefined);
    await send({ ...(await stopped), content: draft, isHeld: false });
  };
  const drop = async () => {
    const dropped = recorder?.drop();
    setRecorder(undefined);
    await dropped;
  };
  // Whoever leaves in the middle of a recording is not listened to any more; what was said until then waits.
  const open = useRef(recorder);
  open.current = recorder;
  useEffect(() => {
    void prepare();
    return () => void open.current?.stop();
  }, []);
  const listen = async () => {
    const begun = await record({ kind: "journal", date });
    setRecorder(begun);
    void begun.brokenOff.then(async ({ message }) => {
      if (open.current !== begun) return;
      setRecorder(undefined);
      await begun.stop().catch(() => undefined);
      if (message) toast(message, { isError: true });
    });
  };
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
        rows={Math.min(12, Math.max(3, draft.split("\n").length + 1))}
        value={draft}
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
            <Button label={t("record")} icon="microphone" iconOnly kind="quiet" onPress={listen} />
          )}
          <Button label={t("write")} kind="primary" disabled={!draft.trim()} onPress={sendText} />
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
  return (
    <p class="elapsed">
      <span role="status">{t("recording_now")}</span> <span>{clock(seconds)}</span>
      <Room of={recorder} />
    </p>
  );
}
