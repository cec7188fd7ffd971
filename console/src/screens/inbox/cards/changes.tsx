/** Changes of a run that wait for the owner. */
import { api } from "~/api/client";
import { Difference } from "~/components/difference";
import { messages } from "~/text/messages";
import { asker, type BodyProps, type Card, part } from "../card";

const t = messages("inbox_cards_changes", {
  sentence: "The agent in “{source}” wants to change {what} in {project}.",
  files_one: "{n} file",
  files_other: "{n} files",
  more: "{n} more",
  label_apply: "Apply",
  label_throw_away: "Discard",
  done_apply: "{what}: applied to {project}.",
  done_throw_away: "{project} stays as it is.",
});

type Held = { path: string; added: number | null; removed: number | null; why: string };
type Details = { run: number; project: string; files: Held[]; more: number; diffs: Record<string, string | null> };
const of = (details: unknown) => details as Details;

function Body({ item }: BodyProps) {
  const { files, more, diffs } = of(item.details);
  return (
    <>
      {files.map((file) => (
        <details key={file.path} class="fold">
          <summary>
            <bdi>{part(file.path, 400)}</bdi>
            {file.added !== null && ` +${file.added} −${file.removed}`}
          </summary>
          <p class="muted">
            <bdi>{file.why}</bdi>
          </p>
          {diffs[file.path] && <Difference text={diffs[file.path] ?? ""} />}
        </details>
      ))}
      {more > 0 && <p class="muted">{t("more", { n: more })}</p>}
    </>
  );
}

export const card: Card = {
  icon: "files",
  t,
  parts: (item) => {
    const { project, files, more } = of(item.details);
    const what = files.length === 1 && !more ? part(files[0]?.path) : t("files", { n: files.length + more });
    return { ...asker(item), what, project: part(project.split("/").pop()) };
  },
  Body,
  undo: ({ session_id, details }, word) => {
    if (word !== "apply" || !session_id) return undefined;
    const options = { params: { session: session_id }, body: { run: of(details).run } };
    return () => api.post("/api/chat/{session}/undo", options);
  },
};
