/** Smaller copies of pictures, which this device makes: for screens, and for a model, which learns neither where nor with what one was taken. */
import { api } from "~/api/client";

/** Pixels of the longer side: what a screen shows, and what models read at the most. */
const SCREEN = 1600;
export const MODEL = 1568;
/** Bytes of a picture that is decoded at all, and of one that a screen loads as it is. */
const LARGEST = 60_000_000;
const SMALL = 300_000;
const QUALITY = 0.85;

/** Draw a picture with no side longer than `most`, without its metadata; undefined where this browser cannot. */
export async function smaller(picture: Blob, most: number): Promise<Blob | undefined> {
  if (picture.size > LARGEST || typeof OffscreenCanvas === "undefined") return undefined;
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  if (!bitmap) return undefined;
  try {
    const scale = Math.min(1, most / Math.max(bitmap.width, bitmap.height));
    const canvas = new OffscreenCanvas(Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale)));
    const context = canvas.getContext("2d");
    if (!context) return undefined;
    // Letters on a picture of a screen stay sharp; in a photo nobody sees the difference.
    const isDrawing = picture.type === "image/png" && scale === 1;
    if (!isDrawing) {
      context.fillStyle = "white";
      context.fillRect(0, 0, canvas.width, canvas.height);
    }
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob({ type: isDrawing ? "image/png" : "image/jpeg", quality: QUALITY });
  } catch {
    return undefined;
  } finally {
    // It is as large as the picture has points.
    bitmap.close();
  }
}

/** Say whether a file is a picture as phones of Apple take them, which few browsers can show. */
export const isHeic = ({ name, type }: { name: string; type: string }) => /^image\/hei[cf]/.test(type) || /\.(heic|heif)$/i.test(name);

/** Keep a smaller copy of a picture of the journal, if it needs one; false where this browser cannot make it. */
export async function keepSmall(path: string, picture: Blob): Promise<boolean> {
  if (picture.size <= SMALL || picture.type === "image/gif") return true;
  const small = await smaller(picture, SCREEN);
  if (!small) return false;
  if (small.type === "image/jpeg" && small.size < picture.size) await api.module("PUT", `/api/daily/small/${path.split("/").map(encodeURIComponent).join("/")}`, { body: small });
  return true;
}
