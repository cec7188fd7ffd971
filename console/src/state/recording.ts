/** Recording one's voice with the browser's own means: slice by slice onto the disk of this device, and from there to the computer alone. */
import { type Signal, signal } from "@preact/signals";
import { ApiError } from "~/api/client";
import { messages } from "~/text/messages";
import { newKey } from "./entries";
import { addSlice, find, holdRecording, type Letter, put, refresh, remove } from "./letters";
import { secondsLeft, stay } from "./room";

const t = messages("recording", {
  no_room: "This browser has no room left for a recording. Free some space on this device, or delete what is not sent yet.",
  empty: "Nothing was recorded yet: let it run for a moment longer.",
  full: "This browser has no room left, and the recording ended. What was said until then is kept.",
});

export interface Recorder {
  /** Seconds since its beginning. */
  seconds: () => number;
  /** Minutes that there is still room for, when these are few. */
  minutesLeft: Signal<number | undefined>;
  /** Resolved when it has ended by itself, with the reason. */
  brokenOff: Promise<Error>;
  /** End it, and give the letter with what was recorded; it is held until it is sent. */
  stop: () => Promise<Letter>;
  /** End it, and keep nothing. */
  drop: () => Promise<void>;
}

/** Browsers give the microphone to secure pages only. */
export function canRecord(): boolean {
  return isSecureContext && "mediaDevices" in navigator && typeof MediaRecorder !== "undefined";
}

const ENDINGS: [string, string][] = [
  ["webm", "webm"],
  ["mp4", "m4a"],
  ["ogg", "ogg"],
];
/** Milliseconds of a slice: a page that is killed loses no more of what was said. */
const SLICE = 1500;
/** Seconds of room below which the person is told, and below which nothing is begun. */
const FEW = 600;
const NEEDED = 5;

/** Begin a recording; nothing, if it is not wanted any more when the microphone is given: the screen was left while the browser asked. */
export async function record(about: Pick<Letter, "kind" | "date">, isWanted: () => boolean): Promise<Recorder | undefined> {
  const room = await secondsLeft();
  if (room !== undefined && room < NEEDED) throw new ApiError(507, "no_room", t("no_room"));
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const silence = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  if (!isWanted()) return void silence();
  stay();
  const recorder = new MediaRecorder(stream);
  const start = performance.now();
  const seconds = () => Math.floor((performance.now() - start) / 1000);
  const minutesLeft = signal<number | undefined>(undefined);
  const id = newKey();
  const at = new Date().toISOString();
  const letterOf = (length = seconds()): Letter => {
    const type = recorder.mimeType.split(";")[0] ?? "";
    const ending = ENDINGS.find(([word]) => type.includes(word))?.[1] ?? "audio";
    return { ...about, id, at, content: "", isHeld: true, sound: { type, name: `voice-${id.slice(0, 8)}.${ending}`, seconds: length } };
  };
  const release = holdRecording(id);
  let breakOff: (reason: Error) => void = () => undefined;
  const brokenOff = new Promise<Error>((resolve) => (breakOff = resolve));
  let [number, size] = [0, 0];
  let problem: Error | undefined;
  let kept: Promise<void> = Promise.resolve();
  const look = async () => {
    const left = await secondsLeft(size ? size / Math.max(1, seconds()) : undefined);
    minutesLeft.value = left !== undefined && left < FEW ? Math.floor(left / 60) : undefined;
  };
  const keep = async (letter: Letter, count: number, data: Blob) => {
    // After one that is missing nothing could be heard.
    if (problem) return;
    try {
      // Somebody signed out in another window, which deletes all that is not sent.
      if (count > 0 && !(await find(letter.id))) throw new Error("");
      await addSlice(letter, count, data);
      size += data.size;
      await look();
    } catch (error) {
      problem = error instanceof DOMException && error.name === "QuotaExceededError" ? new ApiError(507, "no_room", t("full")) : (error as Error);
      breakOff(problem);
    }
  };
  recorder.ondataavailable = ({ data }) => {
    if (!data.size) return;
    const [letter, count] = [letterOf(), number++];
    kept = kept.then(() => keep(letter, count, data));
  };
  // A phone that is locked may stop this page: what was said until then is on the disk.
  const flush = () => {
    if (document.visibilityState === "hidden" && recorder.state === "recording") recorder.requestData();
  };
  document.addEventListener("visibilitychange", flush);
  const ended = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  recorder.start(SLICE);
  await look();
  let letter: Letter | undefined;
  const end = async () => {
    const length = seconds();
    document.removeEventListener("visibilitychange", flush);
    if (recorder.state !== "inactive") recorder.stop();
    silence();
    await ended;
    await kept;
    // Only now: a recorder that has not begun yet does not know its own type.
    letter ??= letterOf(length);
    release();
    return letter;
  };
  // The microphone may be taken away, as by a call.
  recorder.addEventListener("stop", () => void kept.then(() => letter || breakOff(problem ?? new Error(""))));
  return {
    seconds,
    minutesLeft,
    brokenOff,
    drop: async () => {
      await end();
      await remove(id);
    },
    stop: async () => {
      const found = await end();
      if (problem) {
        await refresh();
        // Its last slices are not there; how long the others are stands in what is kept.
        if (!(await find(id))) throw problem;
        return (await find(id)) as Letter;
      }
      if (!size) {
        await remove(id);
        throw new ApiError(422, "empty_recording", t("empty"));
      }
      await put(found);
      return found;
    },
  };
}
