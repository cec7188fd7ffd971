/** The text of a QR code in a picture: by the browser itself where it can, else by a program that is loaded then. */

interface Detector {
  detect: (source: ImageBitmap) => Promise<{ rawValue: string }[]>;
}

declare global {
  var BarcodeDetector: { new (options: { formats: string[] }): Detector; getSupportedFormats: () => Promise<string[]> } | undefined;
}

const FORMAT = "qr_code";
/** Photos of phones are far larger than what a code needs. */
const LARGEST = 1600;

async function detector(): Promise<Detector | undefined> {
  const Known = globalThis.BarcodeDetector;
  return Known && (await Known.getSupportedFormats()).includes(FORMAT) ? new Known({ formats: [FORMAT] }) : undefined;
}

/** The text, or undefined if there is no code in the picture. */
export async function textIn(picture: ImageBitmap): Promise<string | undefined> {
  const found = await (await detector())?.detect(picture);
  if (found?.[0]) return found[0].rawValue;
  const { decodeQR } = await import("qr/decode.js");
  const scale = Math.min(1, LARGEST / Math.max(picture.width, picture.height));
  const width = Math.max(1, Math.round(picture.width * scale));
  const height = Math.max(1, Math.round(picture.height * scale));
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) return undefined;
  context.drawImage(picture, 0, 0, width, height);
  try {
    return decodeQR(context.getImageData(0, 0, width, height));
  } catch {
    return undefined;
  }
}
