/** One module: what it may do, its settings, what its agents are left, and removing it. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { Switch } from "~/components/field";
import { Loaded, Notice, Page, Section } from "~/components/layout";
import { leave, useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { moduleName } from "~/text/names";
import { described, said } from "~/text/server_sentences";
import { StateBadge } from "./badge";
import { ConsentView, Rights } from "./consent";
import { AgentLimits } from "./limits";
import type { Module } from "./models";
import { ModuleSettings } from "./settings";
import { t } from "./texts";

export function ModulePage({ name }: { name: string }) {
  const params = { name };
  const found = useResource((signal) => api.get("/api/modules/{name}", { params, signal }), name, ["modules"]);
  return (
    <Loaded of={found}>
      {(module) => (
        <Page title={module.title || moduleName(module.name)} back={to("modules")} actions={may("modules", "admin") && <Actions module={module} reload={found.reload} />}>
          <p>
            <StateBadge module={module} />
          </p>
          {(module.problem ?? module.reason) && (
            <Notice kind="warning">
              <p>{said(module.problem ?? module.reason ?? "")}</p>
            </Notice>
          )}
          {module.pending_hash && <Pending module={module} reload={found.reload} />}
          {module.permissions && (
            <Section title={t("consent")}>
              <p>
                <bdi>{described(module.permissions.description)}</bdi>
              </p>
              <Rights permissions={module.permissions} />
            </Section>
          )}
          <ModuleSettings name={name} />
          <AgentLimits name={name} />
          {[...module.confinement, ...module.not_given].length > 0 && (
            <Section title={t("confinement")}>
              <ul class="details-list">
                {[...module.confinement, ...module.not_given].map((sentence) => (
                  <li key={sentence}>{said(sentence)}</li>
                ))}
              </ul>
            </Section>
          )}
        </Page>
      )}
    </Loaded>
  );
}

function Actions({ module, reload }: { module: Module; reload: () => Promise<void> }) {
  const params = { name: module.name };
  // The computer changes one module at a time, and refuses a second change meanwhile.
  const [isBusy, setBusy] = useState(false);
  const alone = (work: () => Promise<unknown>) => async () => {
    setBusy(true);
    try {
      await work();
    } finally {
      setBusy(false);
    }
  };
  const post = (path: "/api/modules/{name}/enable" | "/api/modules/{name}/disable" | "/api/modules/{name}/restart") =>
    alone(async () => {
      await api.post(path, { params });
      await reload();
    });
  if (module.declared) return null;
  return (
    <>
      {module.enabled ? (
        <Button label={t("disable")} disabled={isBusy} onPress={post("/api/modules/{name}/disable")} />
      ) : (
        <Button label={t("enable")} kind="primary" disabled={isBusy} onPress={post("/api/modules/{name}/enable")} />
      )}
      <Button label={t("restart")} icon="refresh" iconOnly kind="quiet" disabled={isBusy} onPress={post("/api/modules/{name}/restart")} />
      <Button label={t("remove")} icon="trash" iconOnly kind="quiet" disabled={isBusy} onPress={alone(() => remove(module))} />
    </>
  );
}

async function remove(module: Module): Promise<void> {
  const purge = await ask<boolean>((close) => <RemoveDialog module={module} close={close} />);
  if (purge === undefined) return;
  await leave(async () => {
    await api.delete("/api/modules/{name}", { params: { name: module.name }, query: { purge } });
    go(to("modules"));
  });
}

function RemoveDialog({ module, close }: { module: Module; close: (purge?: boolean) => void }) {
  const [isPurged, setPurged] = useState(false);
  return (
    <Dialog
      title={t("remove_title", { name: module.title || moduleName(module.name) })}
      onClose={() => close()}
      actions={
        <>
          <Button label={t("cancel")} onPress={() => close()} />
          <Button label={t("remove")} kind="danger" onPress={() => close(isPurged)} />
        </>
      }
    >
      <p>{t("remove_text")}</p>
      <Switch label={t("remove_data")} isOn={isPurged} onChange={setPurged} />
    </Dialog>
  );
}

function Pending({ module, reload }: { module: Module; reload: () => Promise<void> }) {
  const params = { name: module.name };
  const consent = useResource((signal) => api.get("/api/modules/{name}/approval", { params, signal }), module.pending_hash ?? "");
  const approve = async (hash: string) => {
    await api.post("/api/modules/{name}/approve", { params, body: { hash } });
    toast(t("done", { name: module.title || moduleName(module.name) }));
    await reload();
  };
  return (
    <Section title={t("waits")}>
      <Loaded of={consent}>
        {(shown) => (
          <>
            <ConsentView consent={shown} />
            <div class="buttons">
              <Button label={t("approve_change")} kind="primary" onPress={() => approve(shown.hash)} />
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}
