/** Options of a conversation: workspace, model, agent, trust level and instructions. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, TextField } from "~/components/field";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import type { Beginning, Conversation } from "./conversation";
import { Folders } from "./folders";
import { levelOf, mayBecome, type Place } from "./rights";
import { t } from "./texts";

interface Choices {
  workspaces: Place[];
  models: Pick<Schema<"ListedModel">, "id" | "display_name" | "at_home">[];
  agents: { name: string; path?: string | null; source: string }[];
  folders: string[];
}

async function choices(session: string | undefined, signal: AbortSignal): Promise<Choices> {
  const empty = <T,>(value: T) => () => value;
  const [workspaces, models, agents, selection] = await Promise.all([
    api.get("/api/workspaces", { signal }).catch(empty({ workspaces: [] })),
    api.get("/supervisor/models", { signal }).catch(empty({ models: [] })),
    may("agents") ? api.get<{ agents: Choices["agents"] }>("/api/agents", { signal }).catch(empty({ agents: [] })) : { agents: [] },
    session
      ? api.get("/api/contexts/session/{session}", { params: { session }, signal })
      : { folder_paths: [] },
  ]);
  return {
    workspaces: workspaces.workspaces,
    models: models.models,
    agents: agents.agents.filter(({ path }) => path),
    folders: selection.folder_paths,
  };
}

interface Props {
  conversation: Conversation;
  beginning: Beginning;
  onBeginning: (beginning: Beginning) => void;
  onPrompt: () => void;
  onPermissions: () => void;
  onClose: () => void;
}

export function OptionsDialog({ conversation, beginning, onBeginning, onPrompt, onPermissions, onClose }: Props) {
  const found = useResource((signal) => choices(conversation.id, signal), conversation.id ?? "new", ["workspaces", "agents"]);
  return (
    <Dialog title={t("options")} onClose={onClose}>
      <Loaded of={found}>
        {(value) => <Options {...{ conversation, beginning, onBeginning, onPrompt, onPermissions, onClose }} choices={value} />}
      </Loaded>
    </Dialog>
  );
}

function Options({ conversation, beginning, onBeginning, onPrompt, onPermissions, onClose, choices: known }: Props & { choices: Choices }) {
  const session = conversation.session.value;
  const isNew = !conversation.id;
  const [title, setTitle] = useState(session?.title ?? "");
  const [workspace, setWorkspace] = useState((isNew ? beginning.workspaceId : session?.workspaceId) ?? "");
  const [model, setModel] = useState((isNew ? beginning.model : session?.model) ?? "");
  const [agent, setAgent] = useState((isNew ? beginning.agentPath : session?.agentPath) ?? "");
  const before = (isNew ? levelOf(beginning, known.workspaces) : session?.trustLevel) ?? "sandboxed";
  const [level, setLevel] = useState(before);
  const [folders, setFolders] = useState<string[]>((isNew ? beginning.contexts : undefined) ?? known.folders);

  const save = async () => {
    const trustLevel = level === before ? beginning.trustLevel : level;
    const after = { ...beginning, workspaceId: workspace || undefined, model: model || undefined, agentPath: agent || undefined, trustLevel, contexts: folders };
    if (!(await mayBecome(isNew ? levelOf(after, known.workspaces) : level, before))) return;
    if (isNew || !session) onBeginning(after);
    else {
      const params = { session: session.id };
      const body = {
        ...(title !== session.title && { title }),
        ...(workspace !== (session.workspaceId ?? "") && { workspaceId: workspace }),
        ...(model !== (session.model ?? "") && { configOverrides: { model } }),
        ...(level !== session.trustLevel && { trustLevel: level }),
      };
      if (Object.keys(body).length) {
        const changed = await api.patch("/api/chat/{session}/config", { params, body });
        conversation.session.value = changed.session;
      }
      if (folders.join() !== known.folders.join()) {
        await api.put("/api/contexts/session/{session}", { params, body: { folder_paths: folders } });
      }
    }
    toast(t("saved"));
    onClose();
  };

  const none = { value: "", label: t("none") };
  const staysAtHome = known.workspaces.find(({ slug }) => slug === workspace)?.only_at_home;
  const possible = known.models.filter(({ id, at_home: atHome }) => !staysAtHome || atHome || id === model);
  return (
    <>
      {!isNew && <TextField label={t("rename")} value={title} onInput={setTitle} />}
      <Choice
        label={t("workspace")}
        value={workspace}
        options={[none, ...known.workspaces.map(({ slug, name }) => ({ value: slug, label: name }))]}
        onChange={setWorkspace}
      />
      <Choice
        label={t("model")}
        value={model}
        options={[{ value: "", label: t("model_default") }, ...possible.map(({ id, display_name }) => ({ value: id, label: display_name }))]}
        onChange={setModel}
      />
      {isNew && (
        <Choice
          label={t("agent_choice")}
          value={agent}
          options={[{ value: "", label: t("agent_default") }, ...known.agents.map(({ name, path }) => ({ value: path ?? "", label: name }))]}
          onChange={setAgent}
        />
      )}
      {may("*", "admin") && (
        <Choice
          label={t("level")}
          hint={t("level_hint")}
          value={level}
          options={[
            { value: "sandboxed", label: t("level_sandboxed") },
            { value: "direct", label: t("level_direct") },
          ]}
          onChange={setLevel}
        />
      )}
      <Folders chosen={folders} onChange={setFolders} />
      <div class="buttons">
        {!isNew && may("*", "admin") && <Button label={t("permissions")} onPress={onPermissions} />}
        <Button label={t("prompt")} onPress={onPrompt} />
        <Button label={t("save")} kind="primary" onPress={save} />
      </div>
    </>
  );
}
