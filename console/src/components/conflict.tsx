/** A change that the computer's text does not take: both sides, and a choice that loses nothing by itself. */
import { type Letter, put, remove } from "~/state/letters";
import { deliver } from "~/state/outbox";
import { messages } from "~/text/messages";
import { Button } from "./button";
import { confirm } from "./dialog";

const t = messages("conflict", {
  title: "This entry was changed here and on the computer",
  title_deleted: "This entry was changed here and deleted on the computer",
  mine: "Yours",
  theirs: "The computer's",
  keep_mine: "Keep mine",
  keep_theirs: "Keep the computer's",
  keep_both: "Keep both",
  keep_both_text: "“Keep both” makes an entry of its own of yours. The version before stays under “Earlier versions”.",
  as_entry: "Write mine as a new entry",
  let_go: "Leave it deleted",
  sure: "Delete what you wrote here?",
  sure_text: "Your side exists on this device only.",
});

export function Conflict({ letter }: { letter: Letter }) {
  const { edit, content } = letter;
  if (!edit) return null;
  const { theirs } = edit;
  const send = (chosen: Letter) => put(chosen).then(() => deliver(chosen));
  const keepMine = () => send({ ...letter, isRefused: false, problem: undefined });
  const keepTheirs = async () => {
    if (await confirm(t("sure"), t("sure_text"), theirs ? t("keep_theirs") : t("let_go"))) await remove(letter.id);
  };
  // In one step under a key of its own: what was sent before was no entry.
  const keepBoth = () => send({ id: letter.id, kind: "journal", at: letter.at, date: letter.date, content });
  const side = (label: string, title: string, text: string) => (
    <section aria-label={label}>
      <h4>{label}</h4>
      {title && <p><bdi>{title}</bdi></p>}
      <p class="plain-text" dir="auto">{text}</p>
    </section>
  );
  return (
    <article class="conflict" aria-label={t(theirs ? "title" : "title_deleted")}>
      <h3>{t(theirs ? "title" : "title_deleted")}</h3>
      <div class="conflict-sides">
        {side(t("mine"), edit.title === edit.before.title ? "" : edit.title, content)}
        {theirs && side(t("theirs"), theirs.title === edit.before.title ? "" : theirs.title, theirs.content)}
      </div>
      {theirs && <p class="muted">{t("keep_both_text")}</p>}
      <div class="form-actions">
        {theirs && <Button label={t("keep_mine")} onPress={keepMine} />}
        <Button label={theirs ? t("keep_theirs") : t("let_go")} onPress={keepTheirs} />
        <Button label={theirs ? t("keep_both") : t("as_entry")} kind="primary" onPress={keepBoth} />
      </div>
    </article>
  );
}
