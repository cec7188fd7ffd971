/** The backup: where it goes, the emergency kit that opens it, and the first one. */
import { useState } from "preact/hooks";
import { api, ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Credentials, type Typed, typedFor } from "~/components/kit/credentials";
import { EmergencyKit, readKit } from "~/components/kit/kit";
import type { Kit } from "~/components/kit/models";
import { Failure, Notice, Progress } from "~/components/layout";
import { attempt } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import type { Backups, StepProps } from "./models";
import { t } from "./texts";

export function BackupStep({ known, reload }: StepProps) {
  const [made, setMade] = useState<Kit>();
  if (!known.backups.configured) {
    return (
      <Place
        onMade={async () => {
          await attempt(async () => setMade(await readKit()));
          // Without being asked for: who names a place wants a backup in it.
          await attempt(() => api.post("/api/backups"));
          await reload();
        }}
      />
    );
  }
  return (
    <>
      <EmergencyKit protection={known.backups} reload={reload} made={made} />
      <First backups={known.backups} reload={reload} />
      <p class="muted">{t("each_night")}</p>
    </>
  );
}

function Place({ onMade }: { onMade: () => Promise<void> }) {
  const [repository, setRepository] = useState("");
  const [credentials, setCredentials] = useState<Typed>({});
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    const make = (replace: boolean) =>
      api.put("/api/backups/repository", { body: { repository: repository.trim(), credentials: typedFor(repository, credentials), replace } });
    try {
      await make(false).catch(async (problem: unknown) => {
        const isSet = problem instanceof ApiError && problem.key === "other_place";
        // Chosen meanwhile, such as on another device.
        if (!isSet || !(await confirm(t("replace_title"), `${said(problem.message)} ${t("replace_text")}`, t("replace"), "primary"))) throw problem;
        await make(true);
      });
      await onMade();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <Form onSubmit={submit}>
      <TextField label={t("place")} hint={t("place_hint")} value={repository} onInput={setRepository} required autocomplete="off" monospace />
      <Credentials repository={repository} values={credentials} onChange={setCredentials} />
      {isBusy && <Progress label={t("making")} />}
      {error !== undefined && <Failure error={error} />}
      <Button label={t("make_place")} kind="primary" submit disabled={isBusy} />
    </Form>
  );
}

/** The first backup, which begins by itself, and the proof that it can be restored. */
function First({ backups, reload }: { backups: Backups; reload: () => Promise<void> }) {
  const { running, problem, create, drill } = backups;
  const begin = async () => {
    await api.post("/api/backups");
    await reload();
  };
  const prove = async () => {
    await api.post("/api/backups/drill");
    await reload();
  };
  return (
    <div role="status">
      {running ? (
        <Notice>
          <p>
            {t(running.kind === "drill" ? "drilling" : "backing_up")} <bdi>{said(running.step ?? "")}</bdi>
          </p>
          <Progress value={running.part ?? undefined} label={t(running.kind === "drill" ? "drilling" : "backing_up")} />
        </Notice>
      ) : problem ? (
        <Notice kind="danger">
          <p>{said(problem)}</p>
          <Button label={t("back_up")} onPress={begin} />
        </Notice>
      ) : create ? (
        <Notice kind={create.result === "ok" ? "good" : "warning"}>
          <p>{t(create.result === "ok" ? "backed_up" : "backed_up_partly")}</p>
          {drill?.result === "ok" ? <p>{t("drilled")}</p> : <Button label={t("drill")} onPress={prove} />}
        </Notice>
      ) : (
        <Button label={t("back_up")} kind="primary" onPress={begin} />
      )}
    </div>
  );
}
