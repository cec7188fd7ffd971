/** Updates: which version runs, a new one step by step, and the way back. */
import { useEffect } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Ago, Badge, Facts, Loaded, Notice, Progress, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import type { Update, UpdateCheck, Updates as Found } from "./models";
import { t } from "./texts";

/** Milliseconds; nobody announces the steps, since the server ends in one of them. */
const AGAIN = 1500;
const GOOD = ["done", "newest"];
const IN_PLACE = ["putting", "probation", "blessing", "returning"];

export function Updates() {
  const found = useResource((signal) => api.get("/api/updates", { signal }), "updates", ["updates"]);
  const isUnderWay = found.value?.under_way ?? false;
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => void found.reload(), AGAIN);
    return () => clearInterval(timer);
  }, [isUnderWay, found.reload]);
  const begin = async () => {
    await api.post("/api/updates", { body: {} });
    // The supervisor has yet to start what will do it.
    setTimeout(() => void found.reload(), AGAIN);
  };
  const back = async () => {
    if (!(await confirm(t("update_back"), t("update_back_ask"), t("update_back"), "primary"))) return;
    await api.post("/api/updates/back");
    setTimeout(() => void found.reload(), AGAIN);
  };
  const cancel = async () => {
    const ended = await api.delete("/api/updates/running");
    found.set(ended);
    if (ended.update?.phase === "cancelled") toast(t("update_cancelled", { version: ended.running.name }));
  };
  // While the server is being replaced, what was shown last stays.
  const shown = found.value && isUnderWay ? { ...found, error: undefined } : found;
  return (
    <Loaded of={shown}>
      {(updates) => (
        <>
          <p>{t("update_text")}</p>
          <Facts
            facts={[
              [t("version"), <Version of={updates.running} />],
              [t("update_source"), <bdi>{updates.source ?? t("update_no_source")}</bdi>],
              [t("update_nightly"), t(updates.automatic ? "on" : "off")],
            ]}
          />
          {updates.under_way && updates.update ? (
            <UnderWay update={updates.update} cancel={cancel} />
          ) : (
            <div class="buttons">
              {updates.can_go_back && <Button label={t("update_back")} onPress={back} />}
              <Button label={t("update_now")} kind="primary" icon="refresh" onPress={begin} disabled={!updates.source} />
            </div>
          )}
          {updates.update && !updates.under_way && <Last update={updates.update} />}
        </>
      )}
    </Loaded>
  );
}

function Version({ of }: { of: Found["running"] }) {
  return (
    <>
      {of.version} {of.name !== of.version && <code>{of.name}</code>}
    </>
  );
}

function UnderWay({ update, cancel }: { update: Update; cancel: () => Promise<void> }) {
  const isEarly = update.phase === "staging" || update.phase === "rehearsing";
  const label = t(`update_${update.phase}`);
  return (
    <Section title={label}>
      <div role="status">
        <Progress label={label} />
        {update.step && (
          <p class="muted">
            <bdi>{said(update.step)}</bdi>
          </p>
        )}
        {update.until && (
          <p>
            {t("update_until")} <Ago time={update.until} />
          </p>
        )}
      </div>
      <Checks checks={update.checks} />
      {isEarly && <Button label={t("cancel")} onPress={cancel} />}
    </Section>
  );
}

function Last({ update }: { update: Update }) {
  return (
    <Section title={t("update_last")}>
      <p>
        <Badge text={t(`update_${update.phase}`, { version: update.old.name })} kind={GOOD.includes(update.phase) ? "good" : "warning"} />{" "}
        <Ago time={update.at} />
      </p>
      {IN_PLACE.includes(update.phase) && (
        <Notice kind="danger">
          <p>{t("update_unwatched")}</p>
        </Notice>
      )}
      {update.problem && (
        <Notice kind="warning">
          <p>{said(update.problem)}</p>
          {update.hint && <p>{said(update.hint)}</p>}
        </Notice>
      )}
      {[...update.changes, ...update.since].map((sentence) => (
        <p key={sentence}>
          <bdi>{said(sentence)}</bdi>
        </p>
      ))}
      <Checks checks={update.checks} />
    </Section>
  );
}

function Checks({ checks }: { checks: UpdateCheck[] }) {
  return (
    <ul class="rows">
      {checks.map((check) => (
        <li key={check.name}>
          <Badge text={t(check.ok ? "update_passed" : "update_failed")} kind={check.ok ? "good" : "danger"} /> {said(check.sentence)}
          {check.detail && !check.ok && <p class="muted">{said(check.detail)}</p>}
        </li>
      ))}
    </ul>
  );
}
