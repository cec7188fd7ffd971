import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { ModelChoice } from "~/components/model_choice";
import { Badge, Facts, Loaded, Row } from "~/components/layout";
import { keepDraft, useDrafts } from "~/state/drafts";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { described, said } from "~/text/server_sentences";
import { changing, Part, Remark, removing } from "./part";
import { t } from "./texts";

type Agent = Schema<"AgentRow">;

export function Agents() {
  const found = useResource(async (signal) => (await api.get("/api/agents", { signal })).agents, "agents", ["agents", "plugins"]);
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
            badges={<Badge text={t(`source_${agent.source}` as "source_vault")} />}
            text={<bdi>{agent.problem ? said(agent.problem) : described(agent.description ?? "")}</bdi>}
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
  // As it was read: what arrives while it is edited must not be taken for seen.
  const [edited, setEdited] = useState<Agent>();
  const agent = useResource((signal) => api.get("/api/agents/{name}", { params: { name }, signal }), name, ["agents"]);
  if (edited) return <AgentDialog agent={edited} onClose={onClose} />;
  const canChange = may("agents", "admin") && agent.value?.source === "vault" && !agent.value.problem;
  return (
    <Dialog
      title={name}
      onClose={onClose}
      isWide
      actions={canChange && <Button label={t("change")} icon="edit" kind="primary" onPress={() => setEdited(agent.value)} />}
    >
      <Loaded of={agent}>
        {(found) => (
          <>
            <Remark of={found} />
            <p>
              <bdi>{described(found.description ?? "")}</bdi>
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

/** Return the fields of an agent that are sent, without its name. */
const body = (agent: Pick<Agent, "description" | "model" | "tools" | "system_prompt">) => ({
  prompt: agent.system_prompt ?? "",
  ...(agent.description && { description: agent.description }),
  ...(agent.tools.length && { tools: agent.tools }),
  ...(agent.model && { model: agent.model }),
});

/** Write an agent, or change one. */
function AgentDialog({ agent, onClose }: { agent?: Agent; onClose: () => void }) {
  const kept = `agent/${agent?.name ?? ""}`;
  const first = {
    name: agent?.name ?? "",
    description: agent?.description ?? "",
    prompt: agent?.system_prompt ?? "",
    tools: agent?.tools.join(", ") ?? "",
    model: agent?.model ?? "",
  };
  const [draft, setDraft, etag] = useDrafts(kept, first, agent?.etag);
  const field = (name: keyof typeof draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const save = () =>
    attempt(async () => {
      const tools = draft.tools.split(",").map((tool) => tool.trim()).filter(Boolean);
      const wanted = body({ description: draft.description, system_prompt: draft.prompt, model: draft.model, tools });
      if (!agent) await api.post("/api/agents", { body: { name: draft.name, ...wanted } });
      else {
        const params = { name: agent.name };
        const write = async (text: "new" | "before", etag: string) => {
          const sent = { params, body: text === "new" ? wanted : body(agent), headers: { "if-match": etag } };
          return (await api.put("/api/agents/{name}", sent)).agent.etag;
        };
        const reread = async () => (await api.get("/api/agents/{name}", { params })).etag;
        if (!(await changing({ name: agent.name, etag, write, reread }))) return;
      }
      keepDraft(kept, "");
      onClose();
    });
  return (
    <Dialog title={agent ? t("change_one", { name: agent.name }) : t("add_agent")} onClose={onClose} isWide>
      <Form onSubmit={save}>
        {!agent && <TextField label={t("name")} value={draft.name} onInput={field("name")} required autofocus />}
        <TextField label={t("description")} value={draft.description} onInput={field("description")} autofocus={!!agent} />
        <TextField label={t("prompt")} hint={t("prompt_hint")} value={draft.prompt} onInput={field("prompt")} rows={8} required />
        <TextField label={t("tools")} hint={t("tools_hint")} value={draft.tools} onInput={field("tools")} />
        <ModelChoice label={t("model")} none={t("model_none")} value={draft.model} onChange={field("model")} />
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
