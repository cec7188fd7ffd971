/** Backups: how they are, making one with its steps, those that there are, and what restoring takes. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Ago, Badge, Empty, Facts, Loaded, Notice, Progress, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { moment } from "~/text/messages";
import type { Backup, BackupStatus, Operation } from "./models";
import { t } from "./texts";

const ARCHIVE = "/api/export";

/** Everything as plain files: the browser saves what comes, and shows how far it is. */
function Carry() {
  return (
    <Section title={t("carry")}>
      <p>{t("carry_text")}</p>
      <LinkButton label={t("carry_save")} icon="download" href={ARCHIVE} isDownload />
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
  const found = useResource((signal) => api.get<BackupStatus>("/api/backups", { signal }), "backups", ["backups", "settings"]);
  const make = async () => {
    await api.post("/api/backups");
    await found.reload();
  };
  const drill = async () => {
    await api.post("/api/backups/drill");
    await found.reload();
  };
  return (
    <Loaded of={found}>
      {(status) =>
        status.configured ? (
          <>
            {status.running ? (
              <div role="status">
                <p>
                  {t(`running_${status.running.kind}`)} <Ago time={status.running.since} />
                </p>
                <Progress label={t(`running_${status.running.kind}`)} />
                {status.running.step && (
                  <p class="muted">
                    <bdi>{status.running.step}</bdi>
                  </p>
                )}
              </div>
            ) : (
              <div class="buttons">
                {status.create?.backup && <Button label={t("drill")} onPress={drill} />}
                <Button label={t("make_backup")} kind="primary" icon="archive" onPress={make} />
              </div>
            )}
            {status.problem && (
              <Notice kind="danger">
                <p role="alert">{status.problem}</p>
              </Notice>
            )}
            {status.concerns.map((concern) => (
              <Notice key={concern} kind="warning">
                <p>{concern}</p>
              </Notice>
            ))}
            <Facts
              facts={[
                [t("place"), <bdi>{status.repository}</bdi>],
                [t("last_backup"), <Ended operation={status.create} />],
                [t("last_verify"), <Ended operation={status.verify} />],
                [t("last_drill"), <Ended operation={status.drill} />],
              ]}
            />
            <Made newest={status.create?.at ?? ""} />
            <Section title={t("restore")}>
              <p>{t("restore_text")}</p>
              <pre class="text-block" tabIndex={0}>{"parachute backup restore"}</pre>
              <p class="muted">{t("restore_new")}</p>
              <pre class="text-block" tabIndex={0}>{"parachute backup restore --trust"}</pre>
            </Section>
          </>
        ) : (
          <Empty icon="archive" title={t("no_backups")} text={t("no_backups_text")}>
            <LinkButton label={t("set_place")} kind="primary" icon="settings" href={to("computer", ["settings"], { search: "backup.repository" })} />
          </Empty>
        )
      }
    </Loaded>
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

/** The list is asked of where backups lie, which may be far away, so that it waits for a word. */
function Made({ newest }: { newest: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <Section title={t("backups_made")} actions={!isShown && <Button label={t("show")} onPress={() => setShown(true)} />}>
      {isShown && <List key={newest} />}
    </Section>
  );
}

function List() {
  const found = useResource((signal) => api.get<{ backups: Backup[] }>("/api/backups/list", { signal }), "list");
  return (
    <Loaded of={found}>
      {({ backups }) =>
        backups.length === 0 ? (
          <p class="muted">{t("not_yet")}</p>
        ) : (
          <ul class="rows">
            {[...backups].reverse().map((backup) => (
              <Row
                key={backup.id}
                title={moment(backup.made_at)}
                badges={
                  <>
                    {!backup.own && <Badge text={t("of_other")} />}
                    {!backup.finished && <Badge text={t("result_incomplete")} kind="warning" />}
                  </>
                }
                text={
                  <bdi>
                    {backup.id} · {backup.computer}
                  </bdi>
                }
              />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
