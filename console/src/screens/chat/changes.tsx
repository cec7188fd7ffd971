/** Changes by the runs of a conversation: those that wait, their differences, and taking them back. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Difference } from "~/components/difference";
import { Ago, Badge, Loaded, Notice, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { language } from "~/state/preferences";
import { toast } from "~/state/toasts";
import { number } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

type Run = Schema<"ShownChanges">;
type Held = Schema<"HeldPath">;
type Path = Omit<Schema<"WrittenPath">, "undone"> & { undone?: boolean; why?: string };

const NAMED = 3;

/** Name the first few of so many files, each apart from the direction in which the sentence is read. */
export function named(paths: readonly string[], total = paths.length): string {
  const names = paths.slice(0, NAMED).map((path) => `\u2068${path}\u2069`);
  const more = total - names.length;
  return new Intl.ListFormat(language.value).format(more > 0 ? [...names, t("more_files", { n: more })] : names);
}

/** Take a run back, or an undo, or only some files of it, and say what could not be. */
export async function takeBack(session: string, run: number, paths?: string[]): Promise<Schema<"Undone">> {
  const done = await api.post("/api/chat/{session}/undo", { params: { session }, body: { run, ...(paths && { paths }) } });
  if (done.conflicts.length) toast(t("conflicts", { names: named(done.conflicts) }), { isError: true });
  return done;
}

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
  const undo = async () => {
    const { restored } = await takeBack(session, run.run);
    if (restored.length) toast(t("undone", { n: restored.length, names: named(restored) }));
    await reload();
  };
  return (
    <Section
      title={t("run", { n: run.run })}
      actions={run.files.some(({ undone }) => !undone) && <Button label={t("undo_run")} icon="undo" onPress={undo} />}
    >
      {run.ended_at && <Ago time={run.ended_at} />}
      {run.note && <p class="muted">{said(run.note)}</p>}
      {run.held.length > 0 && <HeldView session={session} run={run.run} held={run.held} hash={run.hash} reload={reload} />}
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

interface HeldProps {
  session: string;
  run: number;
  held: readonly Held[];
  /** More of them wait than are listed: then it is not all shown, and is not answered here. */
  isCut?: boolean;
  hash: string | null;
  reload: () => Promise<void>;
}

/** Changes that wait for the owner, with the two answers. */
export function HeldView({ session, run, held, isCut, hash, reload }: HeldProps) {
  const decide = async (answer: "apply" | "throw_away") => {
    await api.post("/api/chat/{session}/changes/answer", { params: { session }, body: { run, answer, hash } });
    await reload();
  };
  return (
    <Notice kind="warning">
      <ul class="rows">
        {held.map((file) => (
          <FileView key={file.path} session={session} run={run} file={file} />
        ))}
      </ul>
      {may("*", "admin") && !isCut && (
        <div class="buttons">
          <Button label={t("throw_away")} onPress={() => decide("throw_away")} />
          {held.some((file) => file.can_be_applied) && <Button label={t("apply")} kind="primary" onPress={() => decide("apply")} />}
        </div>
      )}
    </Notice>
  );
}

export function FileView({ session, run, file, onUndo }: { session: string; run: number; file: Path; onUndo?: () => unknown }) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <Row
        title={<bdi class={file.undone ? "undone" : ""}>{file.path}</bdi>}
        text={file.why && said(file.why)}
        badges={
          <>
            <Lines {...file} />
            {file.why && <Badge text={t("waits")} kind="warning" />}
          </>
        }
        actions={
          <>
            <Button label={t("difference")} pressed={isShown} onPress={() => setShown(!isShown)} />
            {onUndo && <Button label={t("undo")} icon="undo" onPress={onUndo} />}
          </>
        }
      />
      {isShown && (
        <li class="row">
          <FileDifference session={session} run={run} path={file.path} />
        </li>
      )}
    </>
  );
}

/** Lines that were added and removed, as far as they are known. */
export function Lines({ added, removed }: { added: number | null; removed: number | null }) {
  return (
    <>
      {added !== null && <Badge text={`+${number(added)}`} kind="good" />}
      {removed !== null && <Badge text={`−${number(removed)}`} kind="danger" />}
    </>
  );
}

export function FileDifference({ session, run, path }: { session: string; run: number; path: string }) {
  const found = useResource(
    (signal) => api.get("/api/chat/{session}/changes/{run}/diff", { params: { session, run }, query: { path }, signal }),
    `${session}/${run}/${path}`,
  );
  return <Loaded of={found}>{({ diff }) => (diff ? <Difference text={diff} /> : <p class="muted">{t("no_difference")}</p>)}</Loaded>;
}
