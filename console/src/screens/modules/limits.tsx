/** Limits of a module's agents by the owner: less than was approved, never more. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, Switch, TextField } from "~/components/field";
import { Badge, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { described } from "~/text/server_sentences";
import { allowance, t } from "./texts";

type Limited = Schema<"LimitedAgent">;

export function AgentLimits({ name }: { name: string }) {
  const found = useResource(
    (signal) => api.get("/api/modules/{name}/limits", { params: { name }, signal }),
    name,
    ["modules"],
  );
  const [edited, setEdited] = useState<Limited>();
  const isAdmin = may("modules", "admin");
  return (
    <Section title={t("limits")}>
      <Loaded of={found}>
        {({ agents }) =>
          agents.length === 0 ? (
            <p class="muted">{t("no_agents")}</p>
          ) : (
            <ul class="rows">
              {agents.map((agent) => (
                <Row
                  key={agent.name}
                  title={<bdi>{agent.name}</bdi>}
                  badges={agent.limit && <Badge text={t("limited")} kind="accent" />}
                  text={
                    <bdi>
                      {[
                        described(agent.allowed.description),
                        t("agent_files", { value: allowance(agent.allowed.files) }),
                        t("agent_network", { value: allowance(agent.allowed.network) }),
                      ].join(" · ")}
                    </bdi>
                  }
                  actions={isAdmin && <Button label={t("limit")} onPress={() => setEdited(agent)} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {edited && <LimitDialog module={name} agent={edited} onClose={() => setEdited(undefined)} onSaved={found.reload} />}
    </Section>
  );
}

interface DialogProps {
  module: string;
  agent: Limited;
  onClose: () => void;
  onSaved: () => Promise<void>;
}

function LimitDialog({ module, agent, onClose, onSaved }: DialogProps) {
  const [paths, setPaths] = useState(agent.limit?.paths?.join("\n") ?? "");
  const [tools, setTools] = useState(agent.limit?.capabilities ?? agent.allowed.tools);
  const [isOffline, setOffline] = useState(agent.limit?.network === "none");
  const params = { name: module, agent: agent.name };
  const done = async () => {
    await onSaved();
    onClose();
  };
  const save = () =>
    attempt(async () => {
      const lines = paths.split("\n").map((line) => line.trim()).filter(Boolean);
      const isNarrower = tools.length < agent.allowed.tools.length;
      const body = {
        ...(lines.length && { paths: lines }),
        ...((isNarrower || agent.limit?.capabilities) && { capabilities: tools }),
        ...(isOffline && { network: "none" }),
      };
      await api.put("/api/modules/{name}/limits/{agent}", { params, body });
      await done();
    });
  const remove = async () => {
    await api.delete("/api/modules/{name}/limits/{agent}", { params });
    await done();
  };
  return (
    <Dialog title={t("limit_title", { name: agent.name })} onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label={t("limit_paths")} hint={t("limit_paths_hint")} value={paths} onInput={setPaths} rows={3} monospace />
        {agent.allowed.tools.length > 0 && (
          <fieldset class="question">
            <legend>{t("limit_tools")}</legend>
            {agent.allowed.tools.map((tool) => (
              <label key={tool} class="option">
                <input
                  type="checkbox"
                  checked={tools.includes(tool)}
                  onChange={(event) => setTools(event.currentTarget.checked ? [...tools, tool] : tools.filter((other) => other !== tool))}
                />
                <bdi>{tool}</bdi>
              </label>
            ))}
          </fieldset>
        )}
        <Switch label={t("limit_network")} isOn={isOffline} onChange={setOffline} />
        <div class="buttons">
          {agent.limit && <Button label={t("unlimit")} onPress={remove} />}
          <Button label={t("save")} kind="primary" submit />
        </div>
      </Form>
    </Dialog>
  );
}
