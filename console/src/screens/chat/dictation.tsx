/** Saying a message instead of typing it: the recording is kept among the files, and its text comes into the field. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { Progress } from "~/components/layout";
import { Room, Unsent } from "~/components/unsent";
import { find, type Letter, put, remove, send as sending, soundOf } from "~/state/letters";
import { sendPieces } from "~/state/pieces";
import { canRecord, record, type Recorder } from "~/state/recording";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { alone } from "~/state/sending";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { askFor, cancel, finished, voiceStatus } from "~/state/voice";
import { explain } from "~/text/errors";
import { said } from "~/text/server_sentences";
import { t } from "./composer_texts";

const FOLDER = "Chat/recordings";

export function Dictation({ onText }: { onText: (text: string) => void }) {
  const isAllowed = may("voice", "write") && may("vault", "write");
  const status = useResource(async (signal) => (isAllowed ? await voiceStatus(signal) : undefined), String(isAllowed), ["settings"]);
  const [recorder, setRecorder] = useState<Recorder>();
  const [job, setJob] = useState<{ id: string; progress: number | null }>();
  // What was typed while the recording became text stays.
  const tell = useRef(onText);
  tell.current = onText;
  // Whoever leaves in the middle of a recording is not listened to any more.
  const open = useRef(recorder);
  open.current = recorder;
  const isThere = useRef(true);
  useEffect(
    () => () => {
      isThere.current = false;
      void open.current?.stop().catch(() => undefined);
    },
    [],
  );
  if (!isAllowed || !status.value) return null;
  if (!canRecord()) return <Absent reason={t("no_microphone")} setting="tls" />;
  if (!status.value.ready) return <Absent reason={status.value.kind === "none" ? t("no_voice") : (status.value.problem ? said(status.value.problem.message) : t("no_voice"))} setting="voice" />;

  const listen = () =>
    attempt(async () => {
      const begun = await record({ kind: "dictation", date: "" }, () => isThere.current);
      if (!begun) return;
      setRecorder(begun);
      void begun.brokenOff.then(async ({ message }) => {
        if (open.current !== begun) return;
        setRecorder(undefined);
        await begun.stop().catch(() => undefined);
        if (message) toast(message, { isError: true });
      });
    });
  const finish = () =>
    attempt(async () => {
      const stopped = recorder?.stop();
      setRecorder(undefined);
      if (stopped) await transcribe(await stopped);
    });
  const transcribe = (letter: Letter) =>
    attempt(async () => {
      const end = sending(letter.id);
      try {
        const path = await deliver(letter);
        if (!path) return;
        const asked = await askFor({ path });
        setJob({ id: asked.id, progress: null });
        const done = await finished(asked.id, (progress) => setJob({ id: asked.id, progress }));
        if (done.text) tell.current(done.text);
        else if (done.state === "done") toast(t("nothing_said"));
        else if (done.error) toast(said(done.error.message), { isError: true });
      } finally {
        end();
        setJob(undefined);
      }
    });
  const drop = async () => {
    const dropped = recorder?.drop();
    setRecorder(undefined);
    await dropped;
  };
  if (job) {
    return (
      <span class="dictation" role="status">
        <Progress value={job.progress ?? undefined} label={t("becomes_text")} />
        <Button label={t("stop_text")} icon="close" iconOnly kind="quiet" onPress={() => cancel(job.id)} />
      </span>
    );
  }
  if (!recorder) {
    return (
      <>
        <Unsent kinds={["dictation"]} onSend={transcribe} />
        <Button label={t("dictate")} icon="microphone" iconOnly kind="quiet" onPress={listen} />
      </>
    );
  }
  return (
    <span class="dictation">
      <span role="status">{t("listening")}</span>
      <Room of={recorder} />
      <Button label={t("drop_recording")} icon="trash" iconOnly kind="quiet" onPress={drop} />
      <Button label={t("take_text")} icon="check" iconOnly kind="primary" onPress={finish} />
    </span>
  );
}

/** Keep a recording among the files, and forget it here once the computer has the whole; nothing where another window has done so. */
async function deliver(letter: Letter): Promise<string | undefined> {
  return alone(letter.id, async () => {
    if (!(await find(letter.id))) return undefined;
    const params = { key: letter.id };
    const query = { path: `${FOLDER}/${letter.at.replace(/[:.]/g, "-")}-${letter.sound?.name}` };
    try {
      const path = await sendPieces(await soundOf(letter), {
        find: (announced, signal) => api.get("/api/files/pieces/{key}", { params, query: { ...query, ...announced }, signal }),
        add: (announced, body, signal) => api.put("/api/files/pieces/{key}", { params, query: { ...query, ...announced }, body, signal }),
      });
      await remove(letter.id);
      return path;
    } catch (error) {
      await put({ ...letter, isHeld: false, problem: explain(error) }).catch(() => undefined);
      throw error;
    }
  });
}

/** The microphone where it cannot be used: it says why, and leads to the setting. */
function Absent({ reason, setting }: { reason: string; setting: string }) {
  const tell = () =>
    ask<void>((close) => (
      <Dialog
        title={t("dictate")}
        onClose={() => close()}
        actions={
          may("config", "admin") && (
            // Its address leads away from here: the dialog closes with it.
            <span onClick={() => close()}>
              <LinkButton label={t("voice_settings")} kind="primary" href={to("computer", ["settings"], { search: setting })} />
            </span>
          )
        }
      >
        <p>{reason}</p>
      </Dialog>
    ));
  return <Button label={t("dictate")} icon="microphone" iconOnly kind="quiet" onPress={() => void tell()} />;
}
