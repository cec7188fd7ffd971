import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Badge, Facts, Loaded, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { Part, removing } from "./part";
import { t } from "./texts";

interface Agent {
  name: string;
  description: string | null;
  source: string;
  model: string | null;
  tools: string[];
  system_prompt: string | null;
}

export function Agents() {
  const found = useResource(async (signal) => (await api.get<{ agents: Agent[] }>("/api/agents", { signal })).agents, "agents", ["agents", "plugins"]);
  const [shown, setShown] = useState<string>();
  const isAdmin = may("agents", "admin");
  return (
    <>
      <Part
        icon="capabilities"
        name={t("agents")}
        text={t("agents_text")}
        add={t("add_agent")}
        mayAdd={isAdmin}
        found={found}
        line={(agent) => (
          <Row
            key={agent.name}
            title={<Opener name={agent.name} onOpen={() => setShown(agent.name)} />}
            badges={<Badge text={agent.source} />}
            text={<bdi>{agent.description}</bdi>}
            actions={
              isAdmin &&
              agent.source === "vault" && (
                <Button
                  label={t("remove_one", { name: agent.name })}
                  icon="trash"
                  iconOnly
                  kind="quiet"
                  onPress={() => removing(agent.name, () => api.delete("/api/agents/{name}", { params: { name: agent.name } }), found.reload)}
                />
              )
            }
          />
        )}
        dialog={(close) => <AgentDialog onClose={close} />}
      />
      {shown && <Shown name={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

export function Opener({ name, onOpen }: { name: string; onOpen: () => void }) {
  return (
    <button type="button" class="as-link" onClick={onOpen}>
      <bdi>{name}</bdi>
    </button>
  );
}

function Shown({ name, onClose }: { name: string; onClose: () => void }) {
  const agent = useResource((signal) => api.get<Agent>("/api/agents/{name}", { params: { name }, signal }), name, ["agents"]);
  return (
    <Dialog title={name} onClose={onClose} isWide>
      <Loaded of={agent}>
        {(found) => (
          <>
            <p>
              <bdi>{found.description}</bdi>
            </p>
            <Facts
              facts={[
                [t("tools"), <bdi>{found.tools.join(", ") || "–"}</bdi>],
                [t("model"), <bdi>{found.model ?? "–"}</bdi>],
              ]}
            />
            <pre class="text-block" tabIndex={0}>{found.system_prompt}</pre>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function AgentDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState({ name: "", description: "", prompt: "", tools: "", model: "" });
  const field = (name: keyof typeof draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const save = () =>
    attempt(async () => {
      const tools = draft.tools.split(",").map((tool) => tool.trim()).filter(Boolean);
      const body = {
        name: draft.name,
        prompt: draft.prompt,
        ...(draft.description && { description: draft.description }),
        ...(tools.length && { tools }),
        ...(draft.model && { model: draft.model }),
      };
      await api.post("/api/agents", { body });
      onClose();
    });
  return (
    <Dialog title={t("add_agent")} onClose={onClose} isWide>
      <Form onSubmit={save}>
        <TextField label={t("name")} value={draft.name} onInput={field("name")} required autofocus />
        <TextField label={t("description")} value={draft.description} onInput={field("description")} />
        <TextField label={t("prompt")} hint={t("prompt_hint")} value={draft.prompt} onInput={field("prompt")} rows={8} required />
        <TextField label={t("tools")} hint={t("tools_hint")} value={draft.tools} onInput={field("tools")} />
        <TextField label={t("model")} hint={t("model_hint")} value={draft.model} onInput={field("model")} />
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
