/** The actions on one conversation, wherever it is listed. */
import { api, send } from "~/api/client";
import { confirm } from "~/components/dialog";
import { type Choice, choose } from "~/components/menu";
import { askText } from "~/components/prompt";
import { place, go, to } from "~/state/router";
import { saveAs } from "~/state/saving";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { type Session, versionsOf } from "./data";
import { t } from "./texts";

type Action = "rename" | "pin" | "unpin" | "archive" | "unarchive" | "end" | "markdown" | "html" | "delete";

/** Ask for an action and do it; `changed` is called after it. */
export async function chooseAction(session: Session, isActive: boolean, changed: () => Promise<void>): Promise<void> {
  const action = await choose<Action>(titleOf(session), choices(session, isActive));
  if (action) await act(action, session, changed);
}

export const titleOf = (session: Session) => session.title ?? t("untitled");

function choices(session: Session, isActive: boolean): Choice<Action>[] {
  const files: Choice<Action>[] = [
    { value: "markdown", label: t("save_markdown"), icon: "download" },
    { value: "html", label: t("save_html"), icon: "download" },
  ];
  if (!may("chat", "write")) return files;
  const archive: Choice<Action> = session.archived
    ? { value: "unarchive", label: t("unarchive"), icon: "undo" }
    : { value: "archive", label: t("archive"), icon: "archive" };
  return [
    session.pinned ? { value: "unpin", label: t("unpin"), icon: "pin" } : { value: "pin", label: t("pin"), icon: "pin" },
    { value: "rename", label: t("rename"), icon: "edit" },
    ...files,
    archive,
    ...(isActive ? [] : [{ value: "end", label: t("end"), icon: "stop" } as const]),
    { value: "delete", label: t("delete"), icon: "trash", isDanger: true },
  ];
}

async function act(action: Action, session: Session, changed: () => Promise<void>): Promise<void> {
  const params = { session: session.id };
  const title = titleOf(session);
  // Its line stands for the older versions as well: these would come up in its place.
  const versions = versionsOf(session);
  switch (action) {
    case "rename": {
      const name = await askText({ title: t("rename"), label: t("name"), value: session.title ?? "", yes: t("save") });
      if (name === undefined || name === session.title) return;
      await api.patch("/api/chat/{session}/config", { params, body: { title: name } });
      break;
    }
    case "pin":
      await each(versions, (id) => api.post("/api/chat/{session}/pin", { params: { session: id } }));
      break;
    case "unpin":
      await each(versions, (id) => api.post("/api/chat/{session}/unpin", { params: { session: id } }));
      break;
    case "archive":
    case "unarchive": {
      await put(versions, action);
      const back = action === "archive" ? "unarchive" : "archive";
      const undo = () => void attempt(() => put(versions, back).then(changed));
      toast(t(action === "archive" ? "is_archived" : "is_unarchived", { title }), { action: { label: t("undo"), run: undo } });
      break;
    }
    case "end":
      await api.post("/api/chat/{session}/end", { params });
      toast(t("is_ended", { title }));
      break;
    case "markdown":
    case "html":
      return save(session.id, action);
    case "delete":
      if (!(await confirm(t("delete_question", { title }), t("delete_text", { n: versions.length }), t("delete")))) return;
      if (place.value.screen === "chat" && versions.includes(place.value.rest[0] ?? "")) go(to("chat"), { replace: true });
      await each(versions, (id) => api.delete("/api/chat/{session}", { params: { session: id } }));
      toast(t("is_deleted", { title }));
  }
  await changed();
}

function put(versions: string[], where: "archive" | "unarchive"): Promise<void> {
  return each(versions, (session) =>
    where === "archive"
      ? api.post("/api/chat/{session}/archive", { params: { session } })
      : api.post("/api/chat/{session}/unarchive", { params: { session } }),
  );
}

/** Do it with the oldest first: what is left if one fails is the line that was there. */
async function each(versions: string[], action: (id: string) => Promise<unknown>): Promise<void> {
  for (const id of versions.toReversed()) await action(id);
}

/** Save a conversation as a file; a phone hands it to another app. */
async function save(session: string, form: "markdown" | "html"): Promise<void> {
  const response = await send("GET", "/api/chat/{session}/export", { params: { session }, query: { form } });
  const [, name = ""] = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") ?? "") ?? [];
  const content = await response.blob();
  const file = new File([content], decodeURIComponent(name) || session, { type: content.type });
  if (matchMedia("(pointer: coarse)").matches && navigator.canShare?.({ files: [file] })) {
    try {
      return await navigator.share({ files: [file] });
    } catch (error) {
      // It came too late after the tap, or sharing is not allowed here: then it is saved.
      if (!(error instanceof DOMException) || error.name !== "NotAllowedError") return;
    }
  }
  saveAs(file, file.name);
}
