/** Installing a module of anybody: fetched without running anything, shown, and approved by the hash of what was shown. */
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { events } from "~/api/stream";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, Switch, TextField } from "~/components/field";
import { Notice, Progress } from "~/components/layout";
import { attempt, toast } from "~/state/toasts";
import { moduleName } from "~/text/names";
import { said } from "~/text/server_sentences";
import { ConsentView } from "./consent";
import type { Offered, Staged } from "./models";
import { t } from "./texts";

interface Props {
  onClose: () => void;
  onInstalled: () => Promise<void>;
}

export function InstallDialog({ onClose, onInstalled }: Props) {
  const [source, setSource] = useState("");
  const [path, setPath] = useState("");
  const [isUntrusted, setUntrusted] = useState(true);
  const [staged, setStaged] = useState<Staged>();
  useEffect(() => follow(staged?.id, setStaged), [staged?.id]);

  const stage = () =>
    attempt(async () => {
      const body = { source, ...(path && { path }), untrusted: isUntrusted };
      setStaged(await api.post("/api/modules/staged", { body }));
    });
  const drop = async () => {
    if (staged && staged.status !== "installed") {
      await api.delete("/api/modules/staged/{identifier}", { params: { identifier: staged.id } });
    }
    onClose();
  };
  const approve = async () => {
    if (!staged?.hash) return;
    await api.post("/api/modules/staged/{identifier}/approve", { params: { identifier: staged.id }, body: { hash: staged.hash } });
    toast(t("done", { name: staged.consent?.name ?? source }));
    await onInstalled();
    onClose();
  };
  return (
    <Dialog
      title={t("add")}
      onClose={drop}
      isWide
      actions={
        staged && (
          <>
            <Button label={t("cancel")} onPress={drop} />
            {staged.status === "waiting" && <Button label={t("approve")} kind="primary" onPress={approve} />}
          </>
        )
      }
    >
      {!staged && (
        <Form onSubmit={stage}>
          <TextField label={t("source")} hint={t("source_hint")} value={source} onInput={setSource} required autofocus />
          <TextField label={t("path")} hint={t("path_hint")} value={path} onInput={setPath} />
          <Switch label={t("untrusted")} hint={t("untrusted_hint")} isOn={isUntrusted} onChange={setUntrusted} />
          <Button label={t("fetch")} kind="primary" submit />
        </Form>
      )}
      {staged && (staged.status === "fetching" || staged.status === "installing") && (
        <>
          <p>{staged.status === "fetching" ? t("fetching") : said(staged.steps.at(-1) ?? "")}</p>
          <Progress label={said(staged.steps.at(-1) ?? "") || t("fetching")} />
          <p class="muted">
            <bdi>{said(staged.detail || (staged.steps.at(-1) ?? ""))}</bdi>
          </p>
        </>
      )}
      {staged?.error && (
        <Notice kind="danger">
          <p role="alert">{staged.error}</p>
        </Notice>
      )}
      {staged?.consent && staged.status === "waiting" && <ConsentView consent={staged.consent} />}
    </Dialog>
  );
}

function follow(identifier: string | undefined, onChange: (staged: Staged) => void): (() => void) | undefined {
  if (!identifier) return undefined;
  const stop = new AbortController();
  const read = async () => {
    for await (const staged of events<Staged>("GET", `/api/modules/staged/${identifier}/events`, { signal: stop.signal })) onChange(staged);
  };
  void attempt(() => read().catch((error) => (stop.signal.aborted ? undefined : Promise.reject(error))));
  return () => stop.abort();
}

/** A module that came with the computer: it is here already, so that it is shown at once. */
export function OfficialDialog({ module, onClose, onInstalled }: Props & { module: Offered }) {
  const install = async () => {
    await api.post("/api/modules/install", { body: { source: module.source, hash: module.hash } });
    toast(t("done", { name: module.permissions.title || moduleName(module.name) }));
    await onInstalled();
    onClose();
  };
  return (
    <Dialog
      title={t("consent")}
      onClose={onClose}
      isWide
      actions={
        <>
          <Button label={t("cancel")} onPress={onClose} />
          <Button label={t("approve")} kind="primary" onPress={install} />
        </>
      }
    >
      <ConsentView consent={module} />
    </Dialog>
  );
}
