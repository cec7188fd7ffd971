/** The last runs of an agent with their logs, its file, and taking its last page back. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Badge, Loaded, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { agentName } from "~/text/names";
import { said } from "~/text/server_sentences";
import type { Agent } from "./models";
import { t } from "./texts";

async function load(agent: Agent, signal: AbortSignal) {
  const options = { params: { module: agent.module, name: agent.name }, signal };
  const [{ runs }, { text }] = await Promise.all([
    api.get("/api/modules/{module}/agents/{name}/runs", options),
    api.get("/api/modules/{module}/agents/{name}", options),
  ]);
  return { runs, text };
}

export function RunsDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const found = useResource((signal) => load(agent, signal), `${agent.module}/${agent.name}`, ["schedule", "runs"]);
  const undo = async () => {
    const params = { module: agent.module, name: agent.name };
    const done = await api.post("/api/modules/{module}/agents/{name}/undo", { params, body: {} });
    toast(t("undone", { path: done.output_path }));
    await found.reload();
  };
  return (
    <Dialog
      title={t("runs", { name: agentName(agent.displayName) })}
      onClose={onClose}
      isWide
      actions={found.value?.runs.some(({ output }) => output) && may(agent.module, "write") && <Button label={t("undo")} icon="undo" onPress={undo} />}
    >
      <Loaded of={found}>
        {({ runs, text }) => (
          <>
            {runs.length === 0 && <p class="muted">{t("no_runs")}</p>}
            {runs.map((run) => (
              <details key={run.id} class="fold">
                <summary>
                  <strong>{moment(run.started)}</strong>
                  <span>{t("about_day", { day: moment(`${run.date}T12:00:00`, { dateStyle: "medium" }) })}</span>
                  <Badge text={run.status} kind={run.error ? "danger" : "plain"} />
                </summary>
                {run.error && <p>{said(run.error)}</p>}
                {run.output && <p><bdi>{run.output}</bdi></p>}
                {run.log.length > 0 && <pre class="text-block" tabIndex={0} aria-label={t("log")}>{run.log.join("\n")}</pre>}
              </details>
            ))}
            <Section title={t("file")}>
              <pre class="text-block" tabIndex={0}>{text}</pre>
            </Section>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
