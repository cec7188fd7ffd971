/** Writing an entry: words, a picture, or a recording of one's voice. It is on the disk of this device before it is sent. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { useDrop } from "~/components/drop";
import { clock, Room } from "~/components/unsent";
import { joined, useDraft, useFileDraft, withoutSent } from "~/state/drafts";
import { newKey } from "~/state/entries";
import type { Letter } from "~/state/letters";
import { post } from "~/state/outbox";
import { isHeic, smaller } from "~/state/pictures";
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
  const [draft, say] = useDraft(name);
  const [pictures, choose] = useFileDraft<File>(name);
  const [recorder, setRecorder] = useState<Recorder>();
  const chooser = useRef<HTMLInputElement>(null);
  const isThere = useRef(true);
  const send = async (letter: Letter) => {
    const written = pictures.length ? { ...letter, files: pictures.map((file) => file.name) } : letter;
    // A private window may keep nothing: then the text stays in the field until it has arrived.
    let isKept = false;
    const onKept = () => {
      isKept = true;
      say((now) => withoutSent(now, letter.content.trim()));
      choose((now) => now.filter((file) => !pictures.includes(file)));
    };
    try {
      if (!(await post(written, { files: pictures, onKept, isThere: () => isThere.current }))) return;
    } catch (error) {
      // What was refused comes back to whoever wrote it, before what was typed meanwhile.
      if (!letter.sound && isKept) {
        say((now) => joined(letter.content, now));
        choose((now) => [...pictures, ...now]);
      }
      throw error;
    }
    toast(t("written"));
    await onWritten();
  };
  const canBeSent = draft.trim() !== "" || pictures.length > 0;
  const sendText = async () => {
    if (canBeSent) await send({ id: newKey(), kind: "journal", at: new Date().toISOString(), date, content: draft });
  };
  const addPictures = async (files: File[]) => {
    const added = files.filter((file) => file.type.startsWith("image/") || isHeic(file));
    if (added.length < files.length) toast(t("pictures_alone"), { isError: true });
    choose((before) => [...before, ...added]);
    for (const file of added) if (isHeic(file) && !(await smaller(file, 1))) toast(t("heic", { name: file.name }));
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
    // As shortcuts of the installed console ask for.
    const { query } = place.value;
    if (query.has("record") && canRecord()) void attempt(listen);
    if (query.has("write")) field.current?.focus();
    // Not once more when the page is loaded again.
    if (query.has("record") || query.has("write")) go(to("journal"), { replace: true });
    return () => {
      isThere.current = false;
      void open.current?.stop().catch(() => undefined);
    };
  }, []);
  const listen = async () => {
    const begun = await record({ kind: "journal", date }, () => isThere.current);
    if (!begun) return;
    setRecorder(begun);
    void begun.brokenOff.then(async ({ message }) => {
      if (open.current !== begun) return;
      setRecorder(undefined);
      await begun.stop().catch(() => undefined);
      if (message) toast(message, { isError: true });
    });
  };
  const files = useDrop((dropped) => void attempt(() => addPictures(dropped)));
  return (
    <form
      class={`journal-composer${files.isOver ? " over" : ""}`}
      {...files.heard}
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
      {pictures.length > 0 && (
        <ul class="chosen-pictures" aria-label={t("pictures")}>
          {pictures.map((file, index) => (
            <li key={index}>
              <Preview file={file} />
              <bdi>{file.name}</bdi>
              <Button label={t("remove_picture", { name: file.name })} icon="close" iconOnly kind="quiet" onPress={() => choose((before) => before.filter((other) => other !== file))} />
            </li>
          ))}
        </ul>
      )}
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
            onChange={(event) => {
              // A copy: the list is emptied before they are read.
              const chosen = [...(event.currentTarget.files ?? [])];
              event.currentTarget.value = "";
              void attempt(() => addPictures(chosen));
            }}
          />
          <Button label={t("add_picture")} icon="image" iconOnly kind="quiet" onPress={() => chooser.current?.click()} />
          {canRecord() && (
            <Button label={t("record")} icon="microphone" iconOnly kind="quiet" onPress={listen} />
          )}
          <Button label={t("write")} kind="primary" disabled={!canBeSent} onPress={sendText} />
        </div>
      )}
    </form>
  );
}

function Preview({ file }: { file: File }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return <img class="chosen-picture" src={address} alt="" />;
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
