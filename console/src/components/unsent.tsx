/** Letters that wait on this device, with a button that sends it and one that throws it away. */
import { useEffect, useState } from "preact/hooks";
import { type Letter, letters, remove, soundOf } from "~/state/letters";
import type { Recorder } from "~/state/recording";
import { saveAs } from "~/state/saving";
import { ago, messages, moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { Button } from "./button";
import { confirm } from "./dialog";

const t = messages("unsent", {
  entries: "Not sent yet",
  entries_text: "Kept on this device, and sent when the computer answers, or when you open this page again.",
  recording: "Recording, {time}",
  broken_off: "The recording was interrupted. It is sent when you say so.",
  send: "Send now",
  play: "Play",
  save: "Save as a file",
  little_room_one: "Room for about one more minute",
  little_room_other: "Room for about {n} more minutes",
  take_text: "Transcribe",
  delete: "Delete",
  delete_title: "Delete it?",
  delete_text: "It exists on this device only.",
});

export function Unsent({ kind, onSend }: { kind: Letter["kind"]; onSend: (letter: Letter) => Promise<unknown> }) {
  const found = letters.value.filter((letter) => letter.kind === kind && (letter.isHeld || letter.isWaiting));
  if (found.length === 0) return null;
  const drop = async ({ id }: Letter) => {
    if (await confirm(t("delete_title"), t("delete_text"), t("delete"))) await remove(id);
  };
  return (
    <section class="unsent" aria-label={t("entries")}>
      <h2>{t("entries")}</h2>
      {found.some(({ isHeld, isRefused }) => !isHeld && !isRefused) && <p class="muted">{t("entries_text")}</p>}
      <ul>
        {found.map((letter) => (
          <li key={letter.id}>
            {letter.sound && <strong>{t("recording", { time: clock(letter.sound.seconds) })}</strong>}
            {letter.content && <p class="plain-text" dir="auto">{letter.content}</p>}
            <p class="muted" title={moment(letter.at)}>{ago(letter.at)}</p>
            {letter.isHeld && <p class="muted">{t("broken_off")}</p>}
            {letter.problem && <p role="alert">{said(letter.problem)}</p>}
            <div class="form-actions">
              <Button label={kind === "journal" ? t("send") : t("take_text")} icon="send" onPress={() => onSend(letter)} />
              {letter.sound && <Player letter={letter} />}
              {letter.sound && <Button label={t("save")} icon="download" kind="quiet" onPress={async () => saveAs(await soundOf(letter), `${letter.at.slice(0, 10)}-${letter.sound?.name}`)} />}
              <Button label={t("delete")} icon="trash" kind="quiet" onPress={() => drop(letter)} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Player({ letter }: { letter: Letter }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => () => void (address && URL.revokeObjectURL(address)), [address]);
  if (address) return <audio controls autoplay src={address} aria-label={t("play")} />;
  return <Button label={t("play")} icon="play" kind="quiet" onPress={async () => setAddress(URL.createObjectURL(await soundOf(letter)))} />;
}

/** Minutes that a recording can still take, where they are few. */
export function Room({ of: { minutesLeft } }: { of: Recorder }) {
  const n = minutesLeft.value;
  return n === undefined ? null : <strong class="little-room" role="alert">{t("little_room", { n })}</strong>;
}

/** Minutes and seconds. */
export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
