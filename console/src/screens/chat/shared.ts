/** Things that other apps have shared, for a message that somebody writes about it. */
import { filesOf, find } from "~/state/letters";

/** The words and the files of it; undefined once it is gone. */
export async function sharedFor(id: string): Promise<{ content: string; files: File[] } | undefined> {
  const letter = await find(id);
  if (!letter?.shared) return undefined;
  const contents = await filesOf<File>(id);
  const files = letter.shared.files.flatMap(({ name, type }, index) => (contents[index] ? [new File([contents[index]], name, { type })] : []));
  return { content: letter.content, files };
}
