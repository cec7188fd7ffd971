import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Badge, Empty, Loaded, Notice, Page, Row } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { dollars, moment } from "~/text/messages";
import { agentName, moduleName } from "~/text/names";
import { described, said } from "~/text/server_sentences";
import { titles } from "./about";
import type { Agent } from "./models";
import { Reminders } from "./reminders";
import { RunsDialog } from "./runs";
import { Tasks } from "./tasks";
import { t } from "./texts";

export default function Schedule() {
  const found = useResource(
    (signal) => api.get("/api/scheduler", { signal }),
    "schedule",
    ["schedule", "modules"],
  );
  const [shown, setShown] = useState<Agent>();
  return (
    <Page title={titles("title")}>
      <Loaded of={found}>
        {({ agents, problems }) => (
          <>
            {Object.entries(problems).map(([module, problem]) => (
              <Notice key={module} kind="warning">
                <p>{problem}</p>
              </Notice>
            ))}
            {agents.length === 0 ? (
              <Empty icon="schedule" title={t("empty")} text={t("empty_text")}>
                <LinkButton label={t("modules")} icon="modules" kind="primary" href={to("modules")} />
              </Empty>
            ) : (
              <ul class="rows">
                {agents.map((agent) => (
                  <Line key={`${agent.module}/${agent.name}`} agent={agent} onLook={() => setShown(agent)} reload={found.reload} />
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
      <Reminders />
      {may("vault", "read") && <Tasks />}
      {shown && <RunsDialog agent={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

/** Run an agent; the server answers after three minutes at the latest, and the run goes on by itself. */
async function run(agent: Agent): Promise<void> {
  const params = { module: agent.module, name: agent.name };
  const done = await api.post("/api/modules/{module}/agents/{name}/run", { params, body: { force: true } });
  if (done.error) toast(said(done.error), { isError: true });
  else if (done.status === "running") toast(t("goes_on"));
  else if (done.output_path) toast(t("ran_page", { path: done.output_path }));
  else toast(done.status === "completed_no_output" ? t("ran_nothing") : t("ran"));
}

/** The schedule as its file has it, but a time of each day in this language. */
const when = ({ schedule }: Agent) => (/^\d\d:\d\d$/.test(schedule.time) ? t("each_day", { time: schedule.time }) : schedule.words);

function cost({ schedule, monthDollars }: Agent): string | false {
  const most = schedule.most_a_month;
  if (most !== null) return t("cost_of", { dollars: dollars(monthDollars), most: dollars(most) });
  return monthDollars > 0 && t("cost", { dollars: dollars(monthDollars) });
}

function Line({ agent, onLook, reload }: { agent: Agent; onLook: () => void; reload: () => Promise<void> }) {
  const params = { module: agent.module, name: agent.name };
  const waits = agent.status === "waits_for_approval";
  const approve = async () => {
    await api.post("/api/modules/{module}/agents/{name}/approve", { params, body: { hash: agent.hash } });
    await reload();
  };
  const time = (iso: string) => moment(iso, { dateStyle: "short", timeStyle: "short" });
  const facts = [
    agent.schedule.enabled ? when(agent) : t("off"),
    agent.nextRuns.length > 0 && t("next_runs", { times: agent.nextRuns.map(time).join("; ") }),
    agent.state.lastRunAt && t("last", { time: time(agent.state.lastRunAt) }),
    cost(agent),
  ];
  return (
    <Row
      icon="schedule"
      title={<bdi>{agentName(agent.displayName)}</bdi>}
      badges={
        <>
          <Badge text={moduleName(agent.module)} />
          {agent.status === "running" && <Badge text={t("running")} kind="accent" />}
          {waits && <Badge text={t("waits")} kind="warning" />}
          {agent.lastError && <Badge text={t("failed")} kind="danger" />}
        </>
      }
      text={
        <>
          {agent.description && <bdi>{described(agent.description)}</bdi>}
          <div>{facts.filter(Boolean).join(" · ")}</div>
          {(agent.problem ?? agent.skips ?? agent.lastError) && <div>{said(agent.problem ?? agent.skips ?? agent.lastError ?? "")}</div>}
        </>
      }
      actions={
        <>
          <Button label={t("look")} onPress={onLook} />
          {waits && may(agent.module, "admin") && <Button label={t("approve")} kind="primary" onPress={approve} />}
          {!waits && may(agent.module, "write") && <Button label={t("run")} icon="play" onPress={() => run(agent).then(reload)} />}
        </>
      }
    />
  );
}
