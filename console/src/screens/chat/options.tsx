/** Choice of what the header of a conversation does not offer: its title, agent, instructions, permissions and prompt. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, TextField } from "~/components/field";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import type { Beginning, Conversation } from "./conversation";
import { Folders } from "./folders";
import { t } from "./texts";

interface Choices {
  agents: { name: string; path?: string | null; source: string }[];
  folders: string[];
}

async function choices(session: string | undefined, signal: AbortSignal): Promise<Choices> {
  const [agents, selection] = await Promise.all([
    may("agents") ? api.get<{ agents: Choices["agents"] }>("/api/agents", { signal }).catch(() => ({ agents: [] })) : { agents: [] },
    session
      ? api.get("/api/contexts/session/{session}", { params: { session }, signal })
      : { folder_paths: [] },
  ]);
  return {
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
  const [agent, setAgent] = useState(beginning.agentPath ?? "");
  const [folders, setFolders] = useState<string[]>((isNew ? beginning.contexts : undefined) ?? known.folders);

  const save = async () => {
    if (isNew || !session) onBeginning({ ...beginning, agentPath: agent || undefined, contexts: folders });
    else {
      const params = { session: session.id };
      if (title !== session.title) {
        const changed = await api.patch("/api/chat/{session}/config", { params, body: { title } });
        conversation.session.value = changed.session;
      }
      if (folders.join() !== known.folders.join()) {
        await api.put("/api/contexts/session/{session}", { params, body: { folder_paths: folders } });
      }
    }
    toast(t("saved"));
    onClose();
  };

  return (
    <>
      {!isNew && <TextField label={t("rename")} value={title} onInput={setTitle} />}
      {isNew && (
        <Choice
          label={t("agent_choice")}
          value={agent}
          options={[{ value: "", label: t("agent_default") }, ...known.agents.map(({ name, path }) => ({ value: path ?? "", label: name }))]}
          onChange={setAgent}
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
