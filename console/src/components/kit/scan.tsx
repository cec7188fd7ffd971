/** Reading the code of a kit: with the camera, or from a photo. Nothing of it leaves the browser but the text. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { useId } from "~/components/ids";
import { Notice } from "~/components/layout";
import { textIn } from "./decode";
import { t } from "./texts";

const BETWEEN = 250;

export function Scan({ onText }: { onText: (text: string) => unknown }) {
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const read = async (file: File) => {
    setProblem(undefined);
    try {
      const picture = await createImageBitmap(file);
      const text = await textIn(picture);
      picture.close();
      if (text !== undefined) return await onText(text);
    } catch {
      // It is no picture.
    }
    setProblem(t("no_code"));
  };
  return (
    <>
      <div class="buttons kit-scan">
        {/* Browsers give the camera to secure pages alone. */}
        {navigator.mediaDevices && <Button label={t("camera")} icon="image" onPress={() => setOpen(true)} />}
        <Button label={t("photo")} icon="upload" onPress={() => input.current?.click()} />
        <label class="visually-hidden" for={id}>
          {t("photo_file")}
        </label>
        <input
          ref={input}
          id={id}
          class="visually-hidden"
          type="file"
          accept="image/*"
          tabIndex={-1}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            event.currentTarget.value = "";
            if (file) void read(file);
          }}
        />
      </div>
      {problem && (
        <Notice kind="danger">
          <p role="alert">{problem}</p>
        </Notice>
      )}
      {isOpen && (
        <Camera
          close={() => setOpen(false)}
          onText={async (text) => {
            setOpen(false);
            await onText(text);
          }}
        />
      )}
    </>
  );
}

function Camera({ close, onText }: { close: () => void; onText: (text: string) => unknown }) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    let stream: MediaStream | undefined;
    const look = async () => {
      try {
        stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: { ideal: 1280 } } });
      } catch {
        return setProblem(t("no_camera"));
      }
      const shown = video.current;
      if (isOver || !shown) return end();
      shown.srcObject = stream;
      await shown.play().catch(() => undefined);
      while (!isOver) {
        await new Promise((resolve) => setTimeout(resolve, BETWEEN));
        if (isOver || !shown.videoWidth) continue;
        const picture = await createImageBitmap(shown);
        const text = await textIn(picture);
        picture.close();
        if (text === undefined || isOver) continue;
        end();
        return onText(text);
      }
    };
    const end = () => {
      isOver = true;
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    void look();
    return end;
  }, []);
  return (
    <Dialog title={t("camera")} onClose={close}>
      {problem ? (
        <Notice kind="danger">
          <p role="alert">{problem}</p>
        </Notice>
      ) : (
        <>
          <p>{t("camera_text")}</p>
          <video ref={video} class="kit-camera" muted playsInline aria-label={t("camera_picture")} />
        </>
      )}
    </Dialog>
  );
}
