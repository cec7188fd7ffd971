/** Saving a page of the web as a note: the computer asks its site, and another one only after a yes. */
import { api } from "~/api/client";
import { attempt, toast } from "~/state/toasts";
import { messages } from "~/text/messages";
import { confirm } from "./dialog";

const t = messages("save_page", {
  elsewhere: "Save it from {host}?",
  elsewhere_text: "The address leads to another site: {address}",
  save: "Save the page",
  saved: "“{title}” is saved in the folder Inbox.",
  undo: "Undo",
});

/** Say whether a text is the address of a page. */
export function isPage(text: string): boolean {
  return /^https?:\/\/[^\s/]+\.[^\s]+$/i.test(text) && URL.canParse(text);
}

/** Save a page; false where somebody has said no to another site. */
export async function savePage(address: string): Promise<boolean> {
  const save = (url: string) => api.post("/api/files/pages", { body: { url } });
  let saved = await save(address);
  while (saved.leads_to) {
    const { host } = new URL(saved.leads_to);
    if (!(await confirm(t("elsewhere", { host }), t("elsewhere_text", { address: saved.leads_to }), t("save"), "primary"))) return false;
    saved = await save(saved.leads_to);
  }
  const { change } = saved;
  const undo = () => void attempt(() => api.post("/api/files/undo", { body: { change } }));
  toast(t("saved", { title: saved.title || saved.path || "" }), { action: { label: t("undo"), run: undo } });
  return true;
}
