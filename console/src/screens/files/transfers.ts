/** Files on their way to the computer and from it, which go on while other folders are looked at. */
import { signal } from "@preact/signals";
import { ApiError, download, upload } from "~/api/client";
import { confirm } from "~/components/dialog";
import { saveAs } from "~/state/saving";
import { toast } from "~/state/toasts";
import { explain } from "~/text/errors";
import { join, nameOf } from "./models";
import { t } from "./texts";

export interface Moving {
  id: number;
  name: string;
  isUpload: boolean;
  bytes: number;
  total: number | null;
  cancel: () => void;
}

export const moving = signal<Moving[]>([]);
let last = 0;

function update(id: number, bytes: number): void {
  moving.value = moving.value.map((each) => (each.id === id ? { ...each, bytes } : each));
}

/** Do one transfer and show it; false if it was cancelled, or failed. */
async function move(
  name: string,
  total: number | null,
  isUpload: boolean,
  work: (signal: AbortSignal, onProgress: (bytes: number) => void) => Promise<boolean>,
): Promise<boolean> {
  const stop = new AbortController();
  const id = ++last;
  moving.value = [...moving.value, { id, name, isUpload, bytes: 0, total, cancel: () => stop.abort() }];
  try {
    return await work(stop.signal, (bytes) => update(id, bytes));
  } catch (error) {
    if (stop.signal.aborted) toast(t("cancelled", { name }));
    else toast(`${name}: ${explain(error)}`, { isError: true });
    return false;
  } finally {
    moving.value = moving.value.filter((each) => each.id !== id);
  }
}

/** Put files into a folder, one after another; what is there already, such as the `known`, is replaced after a yes only. */
export async function uploadAll(folder: string, files: Iterable<File>, known: ReadonlySet<string>): Promise<void> {
  let done = 0;
  for (const file of files) {
    const query = { path: join(folder, file.name) };
    const mayReplace = () => confirm(t("replace_title", { name: file.name }), t("replace_text"), t("replace"));
    const isKnown = known.has(file.name);
    if (isKnown && !(await mayReplace())) continue;
    const sent = await move(file.name, file.size, true, async (signal, hear) => {
      const onProgress = (part: number) => hear(part * file.size);
      try {
        await upload("PUT", "/api/files/upload", file, { query, headers: isKnown ? {} : { "if-none-match": "*" }, signal, onProgress });
      } catch (error) {
        if (!(error instanceof ApiError && error.key === "changed_meanwhile")) throw error;
        if (!(await mayReplace())) return false;
        await upload("PUT", "/api/files/upload", file, { query, signal, onProgress });
      }
      return true;
    });
    if (sent) done += 1;
  }
  if (done) toast(t("uploaded", { n: done }));
}

/** Save a file of the vault on this device. */
export async function save(path: string, size: number | null): Promise<void> {
  await move(nameOf(path), size, false, async (signal, onProgress) => {
    const blob = await download("/api/files/download", { query: { path }, signal, onProgress });
    saveAs(blob, nameOf(path));
    return true;
  });
}
