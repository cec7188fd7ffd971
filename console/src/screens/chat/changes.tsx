/** Changes by the runs of a conversation: those that wait, their differences, and taking them back. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Difference } from "~/components/difference";
import { Ago, Badge, Loaded, Notice, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { toast } from "~/state/toasts";
import { t } from "./texts";

type Run = Schema<"ShownChanges">;
type Path = Omit<Schema<"WrittenPath">, "undone"> & { undone?: boolean; why?: string };

export function ChangesDialog({ session, onClose }: { session: string; onClose: () => void }) {
  const params = { session };
  const changes = useResource(
    (signal) => api.get("/api/chat/{session}/changes", { params, signal }),
    session,
    ["files", "runs", "inbox"],
  );
  return (
    <Dialog title={t("changes")} onClose={onClose} isWide>
      <Loaded of={changes}>
        {({ runs }) =>
          runs.length ? (
            <>
              {runs.map((run) => (
                <RunView key={run.run} session={session} run={run} reload={changes.reload} />
              ))}
            </>
          ) : (
            <p class="muted">{t("changes_none")}</p>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function RunView({ session, run, reload }: { session: string; run: Run; reload: () => Promise<void> }) {
  const params = { session };
  const undo = async () => {
    const body = { run: run.run };
    const done = await api.post("/api/chat/{session}/undo", { params, body });
    toast(t("undone", { n: done.restored.length }));
    if (done.conflicts.length) toast(t("conflicts", { names: done.conflicts.join(", ") }), { isError: true });
    await reload();
  };
  const decide = async (answer: "apply" | "throw_away") => {
    await api.post("/api/chat/{session}/changes/answer", { params, body: { run: run.run, answer, hash: run.hash } });
    await reload();
  };
  return (
    <Section
      title={t("run", { n: run.run })}
      actions={run.files.some(({ undone }) => !undone) && <Button label={t("undo_run")} icon="undo" onPress={undo} />}
    >
      {run.ended_at && <Ago time={run.ended_at} />}
      {run.note && <p class="muted">{run.note}</p>}
      {run.held.length > 0 && (
        <Notice kind="warning">
          <ul class="rows">
            {run.held.map((file) => (
              <FileView key={file.path} session={session} run={run.run} file={file} />
            ))}
          </ul>
          <div class="buttons">
            <Button label={t("throw_away")} onPress={() => decide("throw_away")} />
            {run.held.some((file) => file.can_be_applied) && <Button label={t("apply")} kind="primary" onPress={() => decide("apply")} />}
          </div>
        </Notice>
      )}
      {run.files.length > 0 && (
        <ul class="rows">
          {run.files.map((file) => (
            <FileView key={file.path} session={session} run={run.run} file={file} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function FileView({ session, run, file }: { session: string; run: number; file: Path }) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <Row
        title={<bdi class={file.undone ? "undone" : ""}>{file.path}</bdi>}
        text={file.why}
        badges={
          <>
            {file.added !== null && <Badge text={`+${file.added}`} kind="good" />}
            {file.removed !== null && <Badge text={`−${file.removed}`} kind="danger" />}
            {file.why && <Badge text={t("waits")} kind="warning" />}
          </>
        }
        actions={<Button label={t("difference")} pressed={isShown} onPress={() => setShown(!isShown)} />}
      />
      {isShown && (
        <li class="row">
          <FileDifference session={session} run={run} path={file.path} />
        </li>
      )}
    </>
  );
}

function FileDifference({ session, run, path }: { session: string; run: number; path: string }) {
  const found = useResource(
    (signal) => api.get("/api/chat/{session}/changes/{run}/diff", { params: { session, run }, query: { path }, signal }),
    `${session}/${run}/${path}`,
  );
  return <Loaded of={found}>{({ diff }) => (diff ? <Difference text={diff} /> : <p class="muted">{t("no_difference")}</p>)}</Loaded>;
}
