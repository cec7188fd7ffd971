/** The backup: where it goes, the password to write down, and the first one. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Facts, Notice, Progress } from "~/components/layout";
import { attempt } from "~/state/toasts";
import { explain } from "~/text/errors";
import type { Backups, StepProps } from "./models";
import { t } from "./texts";

interface Password {
  password: string;
  repository: string;
}

export function BackupStep({ known, reload }: StepProps) {
  const [password, setPassword] = useState<Password>();
  const show = async () => setPassword(await api.post<Password>("/api/backups/password"));
  if (!known.backups.configured) {
    return (
      <Place
        onMade={async () => {
          await reload();
          await attempt(show);
        }}
      />
    );
  }
  return (
    <>
      {password ? (
        <Emergency password={password} onRead={() => setPassword(undefined)} />
      ) : (
        <>
          <Facts facts={[[t("place"), <bdi>{known.backups.repository}</bdi>]]} />
          <Button label={t("show_password")} onPress={show} />
        </>
      )}
      <First backups={known.backups} reload={reload} />
      <p class="muted">{t("each_night")}</p>
    </>
  );
}

function Place({ onMade }: { onMade: () => Promise<void> }) {
  const [repository, setRepository] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await api.put("/api/backups/repository", { body: { repository: repository.trim() } });
      await onMade();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <Form onSubmit={submit}>
      <TextField label={t("place")} hint={t("place_hint")} value={repository} onInput={setRepository} required autocomplete="off" monospace />
      {isBusy && <Progress label={t("making")} />}
      {error !== undefined && (
        <Notice kind="danger">
          <p role="alert">{explain(error)}</p>
        </Notice>
      )}
      <Button label={t("make_place")} kind="primary" submit disabled={isBusy} />
    </Form>
  );
}

/** What somebody needs who has nothing but the disk and this sheet of paper. */
function Emergency({ password, onRead }: { password: Password; onRead: () => void }) {
  return (
    <Notice kind="warning">
      <p>{t("emergency")}</p>
      <p>
        {t("password")}
        <code class="welcome-password">{password.password}</code>
      </p>
      <Facts
        facts={[
          [t("place"), <bdi>{password.repository}</bdi>],
          [t("to_restore"), t("to_restore_how")],
        ]}
      />
      <p>{t("emergency_why")}</p>
      <Button label={t("written_down")} kind="primary" onPress={onRead} />
    </Notice>
  );
}

function First({ backups, reload }: { backups: Backups; reload: () => Promise<void> }) {
  const begin = async () => {
    await api.post("/api/backups");
    await reload();
  };
  return (
    <div role="status">
      {backups.running ? (
        <Notice>
          <p>
            {t("backing_up")} <bdi>{backups.running.step}</bdi>
          </p>
          <Progress label={t("backing_up")} />
        </Notice>
      ) : backups.problem ? (
        <Notice kind="danger">
          <p>{backups.problem}</p>
          <Button label={t("back_up")} onPress={begin} />
        </Notice>
      ) : backups.create ? (
        <Notice kind={backups.create.result === "ok" ? "good" : "warning"}>
          <p>{t(backups.create.result === "ok" ? "backed_up" : "backed_up_partly")}</p>
        </Notice>
      ) : (
        <Button label={t("back_up")} kind="primary" onPress={begin} />
      )}
    </div>
  );
}
