/** The agent that sorts what waits: what it may, and its last runs. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Badge, Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

/** The server answers after three minutes at the latest, and the run goes on by itself. */
async function sort(): Promise<void> {
  const done = await api.post("/api/suggestions/orchestrate");
  if (done.error) toast(said(done.error), { isError: true });
  else toast(done.status === "running" ? t("goes_on") : t("sorted"));
}

export function Sorting() {
  const found = useResource((signal) => api.get("/api/suggestions/orchestrator", { signal }), "orchestrator", ["suggestions", "runs"]);
  return (
    <>
      <p>{t("sorting_text")}</p>
      <Loaded of={found}>
        {({ time, resolves, runs }) => (
          <>
            {time && <p>{t("sorted_daily", { time })}</p>}
            {resolves.length > 0 && <p>{t("resolves", { kinds: resolves.join(", ") })}</p>}
            {may("suggestions", "write") && (
              <div class="buttons">
                <Button label={t("sort")} kind="primary" icon="play" onPress={() => sort().finally(found.reload)} />
              </div>
            )}
            {runs.length === 0 && <p class="muted">{t("no_runs")}</p>}
            {runs.map((run) => (
              <details key={run.id} class="fold">
                <summary>
                  <strong>{moment(run.started)}</strong>
                  <Badge text={run.status} kind={run.error ? "danger" : "plain"} />
                </summary>
                {run.error && <p>{run.error}</p>}
                {run.log.length > 0 && (
                  <pre class="text-block" tabIndex={0} aria-label={t("log")}>
                    {run.log.join("\n")}
                  </pre>
                )}
              </details>
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}
