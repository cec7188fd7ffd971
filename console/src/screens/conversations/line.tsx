/** One conversation of a list, and what can be done with it. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Ago, Badge, Row } from "~/components/layout";
import { type Choice, choose } from "~/components/menu";
import { askText } from "~/components/prompt";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { platformName } from "~/text/platforms";
import type { Session } from "./data";
import { t } from "./texts";

type Action = "rename" | "archive" | "unarchive" | "end" | "delete";

interface Props {
  session: Session;
  workspace?: string;
  isActive: boolean;
  onChange: () => Promise<void>;
}

export function Line({ session, workspace, isActive, onChange }: Props) {
  const title = session.title ?? t("untitled");
  const open = async () => {
    const action = await choose<Action>(title, choices(session, isActive));
    if (action) await act(action, session, onChange);
  };
  return (
    <Row
      title={<bdi>{title}</bdi>}
      href={to("chat", [session.id])}
      badges={
        <>
          {isActive && <Badge text={t("active")} kind="accent" />}
          {session.trustLevel === "direct" && <Badge text={t("direct")} kind="warning" />}
          {session.linkedBotPlatform && <Badge text={platformName(session.linkedBotPlatform)} />}
          {session.found_by === "meaning" && <Badge text={t("by_meaning")} />}
          {session.source === "claude-code" && <Badge text={t("from_claude_code")} />}
        </>
      }
      text={
        <>
          <Ago time={session.updatedAt} />
          {" · "}
          {t("messages", { n: session.messageCount })}
          {workspace && (
            <>
              {" · "}
              <bdi>{workspace}</bdi>
            </>
          )}
        </>
      }
      actions={may("chat", "write") && <Button label={t("actions", { title })} icon="more" iconOnly kind="quiet" onPress={open} />}
    />
  );
}

function choices(session: Session, isActive: boolean): Choice<Action>[] {
  const archive: Choice<Action> = session.archived
    ? { value: "unarchive", label: t("unarchive"), icon: "undo" }
    : { value: "archive", label: t("archive"), icon: "archive" };
  return [
    { value: "rename", label: t("rename"), icon: "edit" },
    archive,
    ...(isActive ? [] : [{ value: "end", label: t("end"), icon: "stop" } as const]),
    { value: "delete", label: t("delete"), icon: "trash", isDanger: true },
  ];
}

async function act(action: Action, session: Session, changed: () => Promise<void>): Promise<void> {
  const params = { session: session.id };
  const title = session.title ?? t("untitled");
  switch (action) {
    case "rename": {
      const name = await askText({ title: t("rename"), label: t("name"), value: session.title ?? "", yes: t("save") });
      if (name === undefined || name === session.title) return;
      await api.patch("/api/chat/{session}/config", { params, body: { title: name } });
      break;
    }
    case "archive":
    case "unarchive": {
      await put(session.id, action);
      const back = action === "archive" ? "unarchive" : "archive";
      const undo = () => void attempt(() => put(session.id, back).then(changed));
      toast(t(action === "archive" ? "is_archived" : "is_unarchived", { title }), { action: { label: t("undo"), run: undo } });
      break;
    }
    case "end":
      await api.post("/api/chat/{session}/end", { params });
      toast(t("is_ended", { title }));
      break;
    case "delete":
      if (!(await confirm(t("delete_question", { title }), t("delete_text"), t("delete")))) return;
      await api.delete("/api/chat/{session}", { params });
      toast(t("is_deleted", { title }));
  }
  await changed();
}

function put(session: string, where: "archive" | "unarchive"): Promise<unknown> {
  const params = { session };
  return where === "archive"
    ? api.post("/api/chat/{session}/archive", { params })
    : api.post("/api/chat/{session}/unarchive", { params });
}
