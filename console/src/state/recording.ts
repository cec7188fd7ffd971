/** Recording one's voice with the browser's own means: slice by slice onto the disk of this device, and from there to the computer alone. */
import { newKey } from "./entries";
import { addSlice, holdRecording, type Letter, put, refresh, remove } from "./letters";

export interface Recorder {
  /** Seconds since its beginning. */
  seconds: () => number;
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
/** A page that is killed loses no more of what was said. */
const SLICE = 3000;

export async function record(about: Pick<Letter, "kind" | "date">): Promise<Recorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const start = performance.now();
  const seconds = () => Math.floor((performance.now() - start) / 1000);
  const id = newKey();
  const letterOf = (length = seconds()): Letter => {
    const type = recorder.mimeType.split(";")[0] ?? "";
    const ending = ENDINGS.find(([word]) => type.includes(word))?.[1] ?? "audio";
    return { ...about, id, at, content: "", isHeld: true, sound: { type, name: `voice-${id.slice(0, 8)}.${ending}`, seconds: length } };
  };
  const at = new Date().toISOString();
  const release = holdRecording(id);
  let number = 0;
  let problem: unknown;
  let kept: Promise<void> = Promise.resolve();
  recorder.ondataavailable = ({ data }) => {
    if (!data.size) return;
    const [letter, count] = [letterOf(), number++];
    kept = kept.then(() => addSlice(letter, count, data)).catch((error: unknown) => void (problem ??= error));
  };
  const ended = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  recorder.start(SLICE);
  let letter: Letter | undefined;
  const end = async () => {
    const length = seconds();
    if (recorder.state !== "inactive") recorder.stop();
    for (const track of stream.getTracks()) track.stop();
    await ended;
    await kept;
    // Only now: a recorder that has not begun yet does not know its own type.
    letter ??= letterOf(length);
    release();
    return letter;
  };
  return {
    seconds,
    drop: async () => {
      await end();
      await remove(id);
    },
    stop: async () => {
      const found = await end();
      await put(found);
      await refresh();
      if (problem) throw problem;
      return found;
    },
  };
}
