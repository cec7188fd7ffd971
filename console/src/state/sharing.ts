/** Sending what another app has shared to the place that was chosen; each step can be taken again without doing anything twice. */
import { api, ApiError } from "~/api/client";
import { write } from "./entries";
import { filesOf, type Letter } from "./letter_store";
import { sendPieces, sendToJournal } from "./pieces";
import { keepSmall } from "./pictures";
import { plainName, type SharedFile } from "./shared";

/** The folder of the vault for what has no place yet. */
export const FOLDER = "Inbox";

interface Sent extends SharedFile {
  path: string;
}

/** Sends one file with a key of its own, says how many bytes have arrived, and gives its path. */
type Put = (letter: Letter, file: SharedFile, key: string, content: Blob, hear: (bytes: number) => void) => Promise<string>;

/** Send the files of a letter and then its words; `hear` is told how much has arrived, from 0 to 1. */
export async function deliverShared(letter: Letter, hear: (part: number) => void = () => undefined): Promise<void> {
  if (letter.target === "page") return savePage(letter);
  const files = letter.shared?.files ?? [];
  const contents = await filesOf<File>(letter.id);
  const total = files.reduce((sum, { size }) => sum + size, 0) || 1;
  const place = letter.target === "journal" ? inJournal : inFolder;
  const sent: Sent[] = [];
  let before = 0;
  for (const [index, file] of files.entries()) {
    const content = contents[index];
    // An empty file has nothing that could arrive in pieces.
    if (!content?.size) continue;
    const key = letter.id + index.toString(16).padStart(4, "0");
    const path = await place(letter, file, key, content, (bytes) => hear((before + bytes) / total));
    sent.push({ ...file, path });
    before += file.size;
  }
  await (letter.target === "journal" ? writeEntry(letter, sent) : writeNote(letter, sent));
}

async function savePage({ shared }: Letter): Promise<void> {
  const { leads_to } = await api.post("/api/files/pages", { body: { url: shared?.link } });
  // Another site is asked after a yes alone, which the screen asks for.
  if (leads_to) throw new ApiError(409, "page_elsewhere", "The page is at another site.", "Save it once more, and say whether that site is the right one.");
}

const inJournal: Put = async ({ date }, { name, type }, key, content, hear) => {
  const path = await sendToJournal(key, { name, date }, content, hear);
  if (type.startsWith("image/")) await keepSmall(path, content);
  return path;
};

async function writeEntry({ id, content, date }: Letter, sent: Sent[]): Promise<void> {
  const sound = sent.find(({ type }) => type.startsWith("audio/"));
  const marks = sent.filter((file) => file !== sound).map(({ path, name, type }) => mark(path, name, type));
  await write({ content: [content, marks.join("\n")].filter(Boolean).join("\n\n"), date, audio_path: sound?.path, idempotency_key: id });
}

const inFolder: Put = (letter, { name }, key, content, hear) => {
  const [, stem = name, ending = ""] = /^(.*?)(\.\w+)?$/.exec(name) ?? [];
  return atFree(letter, stem, ending, (path) =>
    sendPieces(
      content,
      {
        find: (announced, signal) => api.get("/api/files/pieces/{key}", { params: { key }, query: { path, ...announced }, signal }),
        add: (announced, body, signal) => api.put("/api/files/pieces/{key}", { params: { key }, query: { path, ...announced }, body, signal }),
      },
      hear,
    ),
  );
};

async function writeNote(letter: Letter, sent: Sent[]): Promise<void> {
  if (!letter.content && sent.length > 0) return;
  const marks = sent.map(({ path, name, type }) => mark(path.slice(FOLDER.length + 1), name, type));
  const content = `${[letter.content, marks.join("\n")].filter(Boolean).join("\n\n")}\n`;
  const title = plainName(letter.shared?.title || letter.content.split("\n", 1)[0] || "");
  await atFree(letter, title, ".md", async (path) => {
    try {
      await api.put("/api/write", { body: { path, content }, headers: { "if-none-match": "*" } });
    } catch (error) {
      const isWritten = isTaken(error) && (await api.get("/api/read", { query: { path } })).content === content;
      if (!isWritten) throw error;
    }
    return path;
  });
}

/** Write to a name that nothing else has. */
async function atFree({ id, date }: Letter, name: string, ending: string, put: (path: string) => Promise<string>): Promise<string> {
  const plain = `${FOLDER}/${[date, name].filter(Boolean).join(" ")}`;
  try {
    return await put(plain + ending);
  } catch (error) {
    if (!isTaken(error)) throw error;
    return put(`${plain} ${id.slice(0, 6)}${ending}`);
  }
}

const isTaken = (error: unknown) => error instanceof ApiError && error.key === "changed_meanwhile";

function mark(path: string, name: string, type: string): string {
  const text = name.replace(/[[\]]/g, "");
  return `${type.startsWith("image/") ? "!" : ""}[${text}](${path.split("/").map(encodeURIComponent).join("/")})`;
}
