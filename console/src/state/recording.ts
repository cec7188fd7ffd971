/** Recording one's voice with the browser's own means; nothing leaves it but to this computer. */

export interface Recorder {
  /** How long it has run. */
  seconds: () => number;
  /** End it, and give what was recorded. */
  stop: () => Promise<{ data: Blob; seconds: number; name: string }>;
  /** End it, and keep nothing. */
  drop: () => void;
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

export async function record(): Promise<Recorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  const start = performance.now();
  recorder.start();
  const end = () => {
    if (recorder.state !== "inactive") recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  };
  const seconds = () => Math.floor((performance.now() - start) / 1000);
  return {
    seconds,
    drop: end,
    stop: async () => {
      const length = Math.round((performance.now() - start) / 1000);
      end();
      await ended;
      const type = recorder.mimeType.split(";")[0] ?? "";
      const ending = ENDINGS.find(([word]) => type.includes(word))?.[1] ?? "audio";
      return { data: new Blob(parts, { type }), seconds: length, name: `voice.${ending}` };
    },
  };
}
