/** Pages of a day by agents, and the reflection that somebody wrote by hand. */
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Notice, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { Markdown } from "~/text/markdown";
import { agentName } from "~/text/names";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

type Agent = Schema<"AgentPage">;

interface Shown {
  agents: Agent[];
  pages: { title: string; path: string; content: string }[];
}

async function load(date: string, signal: AbortSignal): Promise<Shown> {
  const params = { module: "daily" };
  const { agents } = await api.get("/api/modules/{module}/agents/status", { params, query: { date }, signal });
  const reflected = `Daily/reflections/${date}.md`;
  const wanted = agents.flatMap(({ hasOutput, displayName, outputPath }) =>
    hasOutput && outputPath ? [{ title: agentName(displayName), path: outputPath }] : [],
  );
  if (!wanted.some(({ path }) => path === reflected)) {
    const { reflections } = await api.module<{ reflections: { date: string }[] }>("GET", "/api/daily/reflections", { signal });
    if (reflections.some((each) => each.date === date)) wanted.push({ title: t("reflection"), path: reflected });
  }
  const pages = await Promise.all(
    wanted.map(async (page) => ({ ...page, content: await text(page.path, date, reflected, signal) })),
  );
  return { agents, pages };
}

/** Reflections are the journal's own; other pages are files of the vault, which not everybody may read. */
async function text(path: string, date: string, reflected: string, signal: AbortSignal): Promise<string> {
  if (path === reflected) {
    const options = { params: { date }, signal };
    return (await api.module<{ content: string }>("GET", "/api/daily/reflections/{date}", options)).content;
  }
  if (!may("vault")) return "";
  return (await api.get("/api/read", { query: { path }, signal })).content;
}

export function Pages({ date }: { date: string }) {
  const found = useResource((signal) => load(date, signal), date, ["data", "schedule", "runs"]);
  if (!found.value) return null;
  const { agents, pages } = found.value;
  const missing = may("daily", "write") ? agents.filter(({ hasOutput }) => !hasOutput) : [];
  if (!pages.length && !missing.length) return null;
  const run = async (agent: Agent) => {
    const params = { module: "daily", name: agent.name };
    const done = await api.post("/api/modules/{module}/agents/{name}/run", { params, body: { date } });
    toast(done.error ? said(done.error) : t("run_done", { name: agentName(agent.displayName) }), { isError: done.error !== null });
    await found.reload();
  };
  return (
    <>
      {pages.map(({ title, path, content }) => (
        <Section key={path} title={title}>
          <div class="agents-page">
            <Markdown text={withoutFront(content)} />
          </div>
        </Section>
      ))}
      {missing.map((agent) => (
        <div key={agent.name} class="missing-page">
          {agent.lastError && agent.lastProcessedDate === date && (
            <Notice kind="warning">
              <p>{said(agent.lastError)}</p>
            </Notice>
          )}
          <Button label={t("run", { name: agentName(agent.displayName) })} icon="play" kind="quiet" onPress={() => run(agent)} />
        </div>
      ))}
    </>
  );
}

function withoutFront(text: string): string {
  return text.replace(/^---\n[\s\S]*?\n---\n/, "").trim();
}
