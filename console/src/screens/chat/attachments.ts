/** Files that go with a message, as `POST /api/chat` takes them. */
import { download } from "~/api/client";
import { isHeic, MODEL, smaller } from "~/state/pictures";
import { bytes } from "~/text/messages";
import type { MessageFile } from "./events";
import { t } from "./composer_texts";

export interface Attachment {
  fileName: string;
  mimeType: string;
  sizeBytes: number;
  type: "image" | "pdf" | "text" | "code" | "archive" | "audio" | "video" | "unknown";
  base64Data: string;
}

/** A file as it is shown while its message is on its way. */
export function shown({ fileName, mimeType, type, base64Data }: Attachment): MessageFile {
  const isPicture = type === "image";
  return { name: fileName, address: isPicture ? `data:${mimeType};base64,${base64Data}` : undefined, isPicture };
}

const MOST = 20;
const LARGEST = 20_000_000;
const LARGEST_IMAGE = 5_000_000;

function typeOf(file: File): Attachment["type"] {
  if (/^image\/(jpeg|png|gif|webp)$/.test(file.type)) return "image";
  if (file.type === "application/pdf") return "pdf";
  if (/^(audio|video)\//.test(file.type)) return file.type.startsWith("audio") ? "audio" : "video";
  if (/zip|tar|compressed/.test(file.type)) return "archive";
  return /^text\//.test(file.type) || /json|xml|yaml|javascript/.test(file.type) ? "text" : "unknown";
}

async function base64(file: File): Promise<string> {
  const reader = new FileReader();
  const done = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
  });
  reader.readAsDataURL(file);
  return (await done).split(",", 2)[1] ?? "";
}

/** A picture as a model is given it: no larger than that reads, and without the place and the camera that it may name. Others stay as they are. */
async function forModel(file: File): Promise<File> {
  if (!/^image\/(jpeg|png|webp|avif|hei[cf])/.test(file.type) && !isHeic(file)) return file;
  const copy = await smaller(file, MODEL);
  if (!copy) return file;
  const ending = copy.type === "image/png" ? ".png" : ".jpg";
  const name = /\.(jpe?g|png)$/i.test(file.name) && copy.type === file.type ? file.name : file.name.replace(/\.\w+$|$/, ending);
  return new File([copy], name, { type: copy.type });
}

/** Read files that come to `count` others, and a sentence for each that the server would refuse or that cannot be read. */
export async function read(files: Iterable<File>, count: number): Promise<{ found: Attachment[]; refused: string[] }> {
  const found: Attachment[] = [];
  const refused: string[] = [];
  for (const given of files) {
    const { name } = given;
    if (count + found.length >= MOST) {
      refused.push(t("too_many", { name, count: MOST }));
      continue;
    }
    const file = await forModel(given);
    if (isHeic(file)) {
      refused.push(t("heic", { name }));
      continue;
    }
    const type = typeOf(file);
    const most = type === "image" ? LARGEST_IMAGE : LARGEST;
    if (file.size > most) refused.push(t("too_large", { name, size: bytes(most) }));
    else {
      const data = await base64(file).catch(() => undefined);
      const mimeType = file.type || "application/octet-stream";
      if (data === undefined) refused.push(t("unreadable", { name }));
      else found.push({ fileName: file.name, mimeType, sizeBytes: file.size, type, base64Data: data });
    }
  }
  return { found, refused };
}

/** The files of a message of a session, to be sent once more. */
export async function attached(session: string, files: readonly MessageFile[]): Promise<Attachment[]> {
  const found = files.map(async ({ name }) => {
    const blob = await download("/api/chat/{session}/attachments/{name}", { params: { session, name } });
    return new File([blob], name, { type: blob.type });
  });
  return (await read(await Promise.all(found), 0)).found;
}
