/** Workspace, model, rights and folder of a conversation, each changed by one tap, before its first message and later. */
import { api } from "~/api/client";
import { Icon, type IconName } from "~/components/icons";
import { confirm } from "~/components/dialog";
import { choose } from "~/components/menu";
import { askText } from "~/components/prompt";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import type { Beginning, Conversation } from "./conversation";
import { t } from "./header_texts";
import { begunIn } from "./offered";
import { type Level, levelOf, mayBecome, type Place } from "./rights";

interface Props {
  conversation: Conversation;
  workspaces: readonly Place[];
  beginning: Beginning;
  onBeginning: (beginning: Beginning) => void;
}

/** A folder that is not among the known ones. */
const OTHER = "\0other";
/** The folder of projects in a vault. */
const PROJECTS = "Projects";

export function ConversationHeader({ conversation, workspaces, beginning, onBeginning }: Props) {
  const session = conversation.session.value;
  if (conversation.id && !session) return null;
  const now = session && conversation.id ? { ...session, level: session.trustLevel } : { ...beginning, level: levelOf(beginning, workspaces) };
  const workspace = workspaces.find(({ slug }) => slug === now.workspaceId);
  const folder = conversation.id ? session?.workingDirectory : (beginning.workingDirectory ?? workspace?.working_directory);
  const mayChange = may("chat", "write") && !session?.archived;

  const change = async (after: Beginning, body: object) => {
    if (!conversation.id) return onBeginning({ ...beginning, ...after });
    const changed = await api.patch("/api/chat/{session}/config", { params: { session: conversation.id }, body });
    conversation.session.value = changed.session;
  };
  const changeWorkspace = async () => {
    const chosen = await choose(t("workspace"), [
      entry("", t("no_workspace"), "close", !now.workspaceId),
      ...workspaces.map(({ slug, name }) => entry(slug, name, "workspaces", slug === now.workspaceId)),
    ]);
    if (chosen === undefined || chosen === (now.workspaceId ?? "")) return;
    if (!conversation.id) return begunIn(chosen, beginning, workspaces, onBeginning);
    await change({ workspaceId: chosen || undefined }, { workspaceId: chosen });
  };
  const changeModel = async () => {
    const { models } = await api.get("/supervisor/models");
    const possible = models.filter((model) => !workspace?.only_at_home || model.at_home);
    const known = possible.map(({ id, display_name }) => entry(id, display_name, "suggestions", id === now.model));
    const chosen = await choose(t("model"), [entry("", t("default_model"), "computer", !now.model), ...known]);
    if (chosen !== undefined) await change({ model: chosen || undefined }, { configOverrides: { model: chosen } });
  };
  const changeLevel = async () => {
    const chosen = await choose<Level>(t("rights"), [
      entry("sandboxed", t("sandboxed"), "modules", now.level === "sandboxed"),
      { ...entry("direct", t("direct"), "warning", now.level === "direct"), isDanger: true },
    ]);
    if (chosen && chosen !== now.level && (await mayBecome(chosen, now.level))) await change({ trustLevel: chosen }, { trustLevel: chosen });
  };
  const changeFolder = async () => {
    const known = await folders(workspaces);
    const chosen = await choose(t("folder"), [
      entry("", t("no_folder"), "close", !folder),
      ...known.map((path) => entry(path, path, "files", path === folder)),
      entry(OTHER, t("other_folder"), "edit", false),
    ]);
    const typed = chosen === OTHER ? await askText({ title: t("folder"), label: t("folder_label"), value: folder ?? "", yes: t("choose") }) : chosen;
    if (typed !== undefined) onBeginning({ ...beginning, workingDirectory: typed || undefined });
  };

  const rights = (
    <Chip
      key="rights"
      icon={now.level === "direct" ? "warning" : "modules"}
      isDanger={now.level === "direct"}
      label={t("rights")}
      value={t(now.level === "direct" ? "direct" : "sandboxed")}
      onPress={mayChange && may("*", "admin") && changeLevel}
    />
  );
  return (
    <ul class="conversation-header" aria-label={t("title")}>
      {/* Full rights, and that nothing leaves home, are in sight also where not everything fits. */}
      {now.level === "direct" && rights}
      {workspace?.only_at_home && <Chip key="home" icon="home" label={t("models")} value={t("at_home")} onPress={saidAtHome} />}
      <Chip key="workspace" icon="workspaces" label={t("workspace")} value={workspace?.name ?? now.workspaceId ?? t("no_workspace")} onPress={mayChange && changeWorkspace} />
      <Chip key="model" icon="suggestions" label={t("model")} value={now.model ?? t("default_model")} onPress={mayChange && changeModel} />
      {now.level !== "direct" && rights}
      <Chip
        icon="files"
        label={t("folder")}
        value={folder ? name(folder) : t("no_folder")}
        tip={conversation.id ? t("folder_stays") : (folder ?? undefined)}
        onPress={mayChange && (conversation.id ? () => saidWhy(folder) : changeFolder)}
      />
    </ul>
  );
}

/** Say where a conversation works, and why that stays: its program and what can be undone are bound to the folder. */
async function saidWhy(folder: string | null | undefined): Promise<void> {
  const text = `${folder ?? t("no_folder")}. ${t("folder_stays")}`;
  if (await confirm(t("folder"), text, t("begin_elsewhere"), "primary")) go(to("chat"));
}

/** Say what staying at home means, and where it is changed. */
async function saidAtHome(): Promise<void> {
  if (await confirm(t("at_home_title"), t("at_home_text"), t("to_workspaces"), "primary")) go(to("workspaces"));
}

interface ChipProps {
  icon: IconName;
  label: string;
  value: string;
  /** The whole of a value that is shown in short. */
  tip?: string;
  isDanger?: boolean;
  onPress: false | (() => Promise<void>);
}

function Chip({ icon, label, value, tip, isDanger, onPress }: ChipProps) {
  const content = (
    <>
      <Icon name={icon} />
      <span class="visually-hidden">{label}: </span>
      <bdi>{value}</bdi>
    </>
  );
  const looks = `setting${isDanger ? " danger" : ""}`;
  return (
    <li>
      {onPress ? (
        <button type="button" class={looks} title={tip ?? label} aria-haspopup="dialog" onClick={() => void attempt(onPress)}>
          {content}
          <Icon name="down" />
        </button>
      ) : (
        <span class={looks} title={tip ?? label}>
          {content}
        </span>
      )}
    </li>
  );
}

function entry<T extends string>(value: T, label: string, icon: IconName, isChosen: boolean) {
  return { value, label, icon, isChosen };
}

/** Folders that one probably means: those of workspaces, and the projects of the vault. */
async function folders(workspaces: readonly Place[]): Promise<string[]> {
  const projects = await api.get("/api/ls", { query: { path: PROJECTS } }).catch(() => ({ entries: [] }));
  const below = projects.entries.filter(({ isDirectory, name }) => isDirectory && !name.startsWith(".")).map(({ name }) => `${PROJECTS}/${name}`);
  return [...new Set([...workspaces.map(({ working_directory }) => working_directory ?? ""), ...below])].filter(Boolean);
}

function name(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}
