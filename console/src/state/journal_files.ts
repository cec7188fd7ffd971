/** Recordings and pictures of entries: each arrives in the journal once. */
import { api } from "~/api/client";
import { type Letter, soundOf } from "./letter_store";
import { sendToJournal } from "./pieces";
import { keepSmall } from "./pictures";

/** Send the sound of a letter, if it has one, and give its path. */
export async function keepSound(letter: Letter): Promise<string | undefined> {
  const { sound, id, date } = letter;
  return sound && sendToJournal(id, { name: sound.name, date }, await soundOf(letter));
}

/** Keep the pictures of a letter in the journal, each once, and give its text with them below. */
export async function addPictures({ id, content, date }: Letter, files: readonly File[]): Promise<string> {
  const shown: string[] = [];
  for (const [number, file] of files.entries()) {
    const path = await keepPicture(`${id}${String(number).padStart(2, "0")}`, file, date);
    shown.push(`![${file.name.replace(/[[\]]/g, "")}](${path})`);
  }
  return [content, ...shown].filter(Boolean).join("\n\n");
}

async function keepPicture(key: string, file: File, date: string): Promise<string> {
  const name = file.name;
  if (!isSecureContext) {
    // There is no hash without TLS, and nothing is kept on the device either.
    const headers = { "content-type": file.type || "application/octet-stream" };
    const found = await api.module<{ path: string }>("POST", "/api/daily/assets/{name}", { params: { name }, query: { date }, body: file, headers });
    return found.path;
  }
  const path = await sendToJournal(key, { name, date }, file);
  await keepSmall(path, file);
  return path;
}
