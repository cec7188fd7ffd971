/** Writing an entry: words, a picture, or a recording of one's voice. It is on the disk of this device before it is sent. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { clock, Room } from "~/components/unsent";
import { draftOf, keepDraft } from "~/state/drafts";
import { keepAsset, newKey } from "~/state/entries";
import { type Letter, put, remove } from "~/state/letters";
import { deliver, later, prepare } from "~/state/outbox";
import { isHeic, keepSmall } from "~/state/pictures";
import { canRecord, record, type Recorder } from "~/state/recording";
import { go, place, to } from "~/state/router";
import { attempt, toast } from "~/state/toasts";
import { t } from "./texts";

interface Props {
  date: string;
  field: RefObject<HTMLTextAreaElement | null>;
  onWritten: () => Promise<void>;
}

export function Composer({ date, field, onWritten }: Props) {
  const name = `journal/${date}`;
  const [draft, setDraft] = useState(() => draftOf(name));
  const [recorder, setRecorder] = useState<Recorder>();
  const [isDraggedOver, setDraggedOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  // Pictures arrive after what is drawn: each is added to what is written by then.
  const written = useRef(draft);
  const say = (text: string) => {
    written.current = text;
    keepDraft(name, text);
    setDraft(text);
  };
  const send = async (letter: Letter) => {
    // A private window may keep nothing: then the text stays in the field until it has arrived.
    const isKept = await put(letter).then(() => true, () => false);
    if (isKept) say("");
    try {
      await deliver(letter);
    } catch (error) {
      if (!isKept) throw error;
      // What was refused comes back to whoever wrote it; what did not arrive waits here.
      if (!letter.sound && error instanceof ApiError && error.status >= 400 && error.status < 500) {
        await remove(letter.id);
        say(letter.content);
        throw error;
      }
      later();
      return;
    }
    if (!isKept) say("");
    toast(t("written"));
    await onWritten();
  };
  const sendText = async () => {
    if (draft.trim()) await send({ id: newKey(), kind: "journal", at: new Date().toISOString(), date, content: draft });
  };
  const addPictures = async (files: File[]) => {
    const pictures = files.filter((file) => file.type.startsWith("image/") || isHeic(file));
    if (pictures.length < files.length) toast(t("pictures_alone"), { isError: true });
    // One after the other: each is as large in memory as it has points.
    for (const file of pictures) {
      const { path } = await keepAsset(file.name, date, file);
      const isShown = await keepSmall(path, file).catch(() => true);
      if (!isShown && isHeic(file)) toast(t("heic", { name: file.name }));
      say(`${written.current}${written.current ? "\n\n" : ""}![${file.name.replace(/[[\]]/g, "")}](${path})`);
    }
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
    // As shortcuts of the installed console ask for.
    const { query } = place.value;
    if (query.has("record") && canRecord()) void attempt(listen);
    if (query.has("write")) field.current?.focus();
    // Not once more when the page is loaded again.
    if (query.has("record") || query.has("write")) go(to("journal"), { replace: true });
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
      class={`journal-composer${isDraggedOver ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setDraggedOver(true);
      }}
      onDragLeave={() => setDraggedOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDraggedOver(false);
        void attempt(() => addPictures([...(event.dataTransfer?.files ?? [])]));
      }}
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
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attempt(() => addPictures(files));
        }}
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
            multiple
            hidden
            aria-label={t("add_picture")}
            onChange={async (event) => {
              const chosen = event.currentTarget;
              // A copy: the list is emptied before they are read.
              const files = [...(chosen.files ?? [])];
              chosen.value = "";
              await attempt(() => addPictures(files));
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
