/** Check boxes and footnotes of a text, as a person and a screen reader use them. */
import { messages } from "./messages";

const t = messages("notes", { done: "Done", open: "Open", note: "Footnote {n}", back: "Back to the text of footnote {n}" });

export function finishNotes(root: ParentNode): void {
  for (const box of root.querySelectorAll("input")) {
    box.disabled = true;
    box.ariaLabel = t(box.checked ? "done" : "open");
  }
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[data-note], a[data-back]")) {
    const { note, back } = link.dataset;
    link.ariaLabel = note ? t("note", { n: note }) : t("back", { n: back ?? "" });
    // The address of the page is the screen: it stays what it is.
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const other = note ? `.notes > [data-note="${note}"] a[data-back]` : `a[data-note="${back}"]`;
      const target = link.closest(".markdown")?.querySelector<HTMLElement>(other);
      target?.focus();
      target?.scrollIntoView({ block: "nearest" });
    });
  }
}
