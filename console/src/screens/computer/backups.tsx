/** Backups: how they are, making one with its steps, those that there are, and restoring one. */
import { useState } from "preact/hooks";
import { api, listeners } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Form } from "~/components/field";
import { Ago, Badge, Empty, Facts, Loaded, Notice, Progress, Section } from "~/components/layout";
import { asks, Credentials, type Typed, typedFor } from "~/components/kit/credentials";
import { EmergencyKit } from "~/components/kit/kit";
import { load, type Running } from "~/components/restoring/models";
import { Restoring } from "~/components/restoring/restoring";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import type { BackupStatus, Drill, Operation } from "./models";
import { t } from "./texts";

const ARCHIVE = "/api/export";

/** Everything as plain files: the browser saves what comes, and shows how far it is, but cannot ask for a confirmation meanwhile. */
function Carry() {
  const save = async () => {
    const me = await api.get("/api/pairing/me");
    if (!me.signed_in || me.confirmed_until || (await listeners.confirm())) location.assign(ARCHIVE);
  };
  return (
    <Section title={t("carry")}>
      <p>{t("carry_text")}</p>
      <Button label={t("carry_save")} icon="download" onPress={save} />
    </Section>
  );
}

export function Backups() {
  return (
    <>
      <Kept />
      {may("export", "admin") && <Carry />}
    </>
  );
}

function Kept() {
  const found = useResource((signal) => api.get("/api/backups", { signal }), "backups", ["backups", "settings"]);
  const make = async () => {
    await api.post("/api/backups");
    await found.reload();
  };
  const drill = async () => {
    await api.post("/api/backups/drill");
    await found.reload();
  };
  const cancel = async () => {
    await api.delete("/api/backups/running");
    await found.reload();
  };
  return (
    <Loaded of={found}>
      {(status) =>
        status.configured ? (
          <>
            {status.running?.kind === "restore" ? null : status.running ? (
              <UnderWay running={status.running} cancel={cancel} />
            ) : (
              <div class="buttons">
                {status.create?.backup && <Button label={t("drill")} onPress={drill} />}
                <Button label={t("make_backup")} kind="primary" icon="archive" onPress={make} />
              </div>
            )}
            {status.problem && (
              <Notice kind="danger">
                <p role="alert">{said(status.problem)}</p>
              </Notice>
            )}
            {status.concerns.map((concern) => (
              <Notice key={concern} kind="warning">
                <p>{concern}</p>
              </Notice>
            ))}
            <Section title={t("kit")}>
              <EmergencyKit protection={status} reload={found.reload} />
            </Section>
            <Facts
              facts={[
                [t("place"), <bdi>{status.repository}</bdi>],
                [t("last_backup"), <Ended operation={status.create} />],
                [t("last_verify"), <Ended operation={status.verify} />],
                [t("last_drill"), <Drilled drill={status.drill} />],
              ]}
            />
            {asks(status.repository ?? "") && <Place status={status} reload={found.reload} />}
            <Restores newest={status.create?.at ?? ""} />
          </>
        ) : (
          <>
            <Empty icon="archive" title={t("no_backups")} text={t("no_backups_text")}>
              <LinkButton label={t("set_place")} kind="primary" icon="archive" href={to("welcome", ["backup"])} />
            </Empty>
            <Restores newest="" />
          </>
        )
      }
    </Loaded>
  );
}

/** The credentials of a remote place: which there are, and others in their place. */
function Place({ status, reload }: { status: BackupStatus; reload: () => Promise<void> }) {
  const [values, setValues] = useState<Typed>({});
  const typed = typedFor(status.repository ?? "", values);
  const save = async () => {
    await api.put("/api/backups/credentials", { body: { credentials: typed } });
    setValues({});
    toast(t("credentials_saved"));
    await reload();
  };
  return (
    <Section title={t("credentials")}>
      <p>{status.credentials.length > 0 ? t("credentials_stored") : t("credentials_none")}</p>
      <Form onSubmit={() => attempt(save)}>
        <Credentials repository={status.repository ?? ""} values={values} onChange={setValues} />
        <div>
          <Button label={t("credentials_save")} submit disabled={Object.keys(typed).length === 0} />
        </div>
      </Form>
    </Section>
  );
}

function Ended({ operation }: { operation: Operation | null }) {
  if (!operation) return <>{t("not_yet")}</>;
  const kind = operation.result === "ok" ? "good" : operation.result === "failed" ? "danger" : "warning";
  return (
    <>
      <Ago time={operation.at} /> <Badge text={t(`result_${operation.result}`)} kind={kind} />
    </>
  );
}

function Drilled({ drill }: { drill: Drill | null }) {
  return (
    <>
      <Ended operation={drill} />
      {drill?.result === "ok" && drill.started && <p>{t("drill_started")}</p>}
      {drill?.result === "ok" && drill.not_started && (
        <p>
          {t("drill_not_started")} <bdi>{drill.not_started}</bdi>
        </p>
      )}
    </>
  );
}

function UnderWay({ running, cancel }: { running: Running; cancel: () => Promise<void> }) {
  const label = t(running.kind === "create" ? "running_create" : "running_drill");
  return (
    <div role="status">
      <p>
        {label} <Ago time={running.since} />
      </p>
      <Progress value={running.part ?? undefined} label={label} />
      {running.step && (
        <p class="muted">
          <bdi>{said(running.step ?? "")}</bdi>
        </p>
      )}
      <Button label={t("cancel")} onPress={cancel} />
    </div>
  );
}

/** The list is asked of where backups lie, which may be far away, so that it waits for a word; what is under way does not. */
function Restores({ newest }: { newest: string }) {
  const [isShown, setShown] = useState(false);
  const last = useResource(load, "restores", ["backups"]);
  const isNews = last.value !== undefined && (last.value.last !== null || last.value.status.running?.kind === "restore");
  const isOpen = isShown || isNews;
  return (
    <Section title={t("restore")} actions={!isOpen && <Button label={t("show")} onPress={() => setShown(true)} />}>
      {isOpen ? <Restoring key={newest} next={() => null} /> : <p>{t("restore_text")}</p>}
    </Section>
  );
}
