/** Letters that wait on this device, with a button that sends it and one that throws it away. */
import { useEffect, useState } from "preact/hooks";
import { filesOf, type Letter, remove, soundOf, waiting } from "~/state/letters";
import { deliver } from "~/state/outbox";
import type { Recorder } from "~/state/recording";
import { saveAs } from "~/state/saving";
import { ago, messages, moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { Button } from "./button";
import { Conflict } from "./conflict";
import { confirm } from "./dialog";

export const t = messages("unsent", {
  entries: "Not sent yet",
  entries_text: "Kept on this device, and sent when the computer answers, or when you open this page again.",
  recording: "Recording, {time}",
  edit: "Change of an entry",
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

interface Props {
  kinds: readonly Letter["kind"][];
  onSend?: (letter: Letter) => Promise<unknown>;
}

export function Unsent({ kinds, onSend = deliver }: Props) {
  const found = waiting.value.filter(({ kind }) => kinds.includes(kind));
  if (found.length === 0) return null;
  return (
    <section class="unsent" aria-label={t("entries")}>
      <h2>{t("entries")}</h2>
      {found.some(({ isHeld, isRefused }) => !isHeld && !isRefused) && <p class="muted">{t("entries_text")}</p>}
      <ul>
        {found.map((letter) => (
          <li key={letter.id}>{letter.edit?.theirs === undefined ? <Waiting letter={letter} onSend={onSend} /> : <Conflict letter={letter} />}</li>
        ))}
      </ul>
    </section>
  );
}

export async function drop({ id }: Letter): Promise<void> {
  if (await confirm(t("delete_title"), t("delete_text"), t("delete"))) await remove(id);
}

function Waiting({ letter, onSend }: { letter: Letter; onSend: (letter: Letter) => Promise<unknown> }) {
  return (
    <>
      {letter.sound && <strong>{t("recording", { time: clock(letter.sound.seconds) })}</strong>}
      {letter.edit && <strong>{t("edit")}</strong>}
      {letter.content && <p class="plain-text" dir="auto">{letter.content}</p>}
      {letter.files && <Pictures letter={letter} />}
      <p class="muted" title={moment(letter.at)}>{ago(letter.at)}</p>
      {letter.isHeld && <p class="muted">{t("broken_off")}</p>}
      {letter.problem && <p role="alert">{said(letter.problem)}</p>}
      <div class="form-actions">
        <Button label={letter.kind === "dictation" ? t("take_text") : t("send")} icon="send" onPress={() => onSend(letter)} />
        {letter.sound && <Player letter={letter} />}
        {letter.sound && <Button label={t("save")} icon="download" kind="quiet" onPress={async () => saveAs(await soundOf(letter), `${letter.at.slice(0, 10)}-${letter.sound?.name}`)} />}
        <Button label={t("delete")} icon="trash" kind="quiet" onPress={() => drop(letter)} />
      </div>
    </>
  );
}

/** The files of a letter: pictures as they are, others by their names. */
export function Pictures({ letter }: { letter: Letter }) {
  const [found, setFound] = useState<string[]>([]);
  useEffect(() => {
    let made: string[] = [];
    void filesOf<Blob>(letter.id).then((files) => setFound((made = files.filter((file) => file instanceof Blob).map((file) => URL.createObjectURL(file)))));
    return () => made.forEach((address) => URL.revokeObjectURL(address));
  }, [letter.id]);
  return (
    <ul class="chosen-pictures">
      {letter.files?.map((name, index) => (
        <li key={index}>
          {found[index] && <img class="chosen-picture" src={found[index]} alt="" />}
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
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
