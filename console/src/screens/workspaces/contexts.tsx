/** Contexts that watch others: which, what the curator has still to review, and what it did last. */
import { api, type Schema } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Ago, Badge, Loaded, Notice, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { t } from "./texts";

type Watch = Schema<"Watch">;

type Curator = Schema<"CuratorState">;

const folderOf = (path: string) => path.split("/").slice(0, -1).join("/");

async function load(signal: AbortSignal) {
  const [{ watches, problem }, curator] = await Promise.all([
    api.get("/api/contexts/watches", { signal }),
    api.get("/api/contexts/curator", { signal }),
  ]);
  const files = [...new Set(watches.map(({ watcher }) => watcher))];
  return { files: files.map((file) => ({ file, watches: watches.filter(({ watcher }) => watcher === file) })), problem, curator };
}

export function Contexts() {
  const found = useResource(load, "watches", ["files", "runs", "suggestions"]);
  return (
    <Section title={t("contexts")}>
      <p class="muted">{t("contexts_text")}</p>
      <Loaded of={found}>
        {({ files, problem, curator }) => (
          <>
            {problem && (
              <Notice kind="warning">
                <p>{problem}</p>
              </Notice>
            )}
            {files.length > 0 && <p>{curator.held ?? t(`curator_${curator.mode}`)}</p>}
            <ul class="rows">
              {files.map(({ file, watches }) => (
                <Line key={file} file={file} watches={watches} curator={curator} reload={found.reload} />
              ))}
            </ul>
            <Runs runs={curator.runs.slice(0, 5)} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Line({ file, watches, curator, reload }: { file: string; watches: Watch[]; curator: Curator; reload: () => Promise<void> }) {
  const waits = curator.waiting.find(({ watcher }) => watcher === file);
  const review = async () => {
    await api.post("/api/contexts/curator/review", { body: { folder: folderOf(file) } });
    toast(t("review_queued", { file }));
    await reload();
  };
  return (
    <Row
      icon="knowledge"
      title={<bdi>{file}</bdi>}
      badges={waits && <Badge text={waits.running ? t("review_running") : t("review_waits")} kind={waits.error ? "warning" : "accent"} />}
      text={
        <>
          {waits?.error && <div>{waits.error}</div>}
          {watches.map(({ pattern, resolved, problem }) => (
            <div key={pattern}>
              <bdi>{problem ?? t("watches", { pattern, files: resolved.join(", ") || t("watches_none") })}</bdi>
            </div>
          ))}
        </>
      }
      actions={
        <>
          <LinkButton label={t("context_open", { file })} icon="files" iconOnly kind="quiet" href={to("files", file.split("/"))} />
          {curator.mode !== "off" && may("chat", "write") && <Button label={t("review")} icon="refresh" onPress={review} />}
        </>
      }
    />
  );
}

function Runs({ runs }: { runs: Curator["runs"] }) {
  return (
    <>
      {runs.map((run) => (
        <details key={run.id} class="fold">
          <summary>
            <strong>
              <bdi>{run.log[0] ?? run.status}</bdi>
            </strong>{" "}
            <Ago time={run.started} /> <Badge text={run.error ? t("review_failed") : t("review_done")} kind={run.error ? "danger" : "plain"} />
          </summary>
          {run.error && <p>{run.error}</p>}
          {run.log.length > 1 && (
            <pre class="text-block" tabIndex={0} aria-label={t("review_log")}>
              {run.log.slice(1).join("\n")}
            </pre>
          )}
        </details>
      ))}
    </>
  );
}
