import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Details } from "~/components/details";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Badge, Facts, Loaded, Notice, Row, Section } from "~/components/layout";
import { NamedList } from "~/components/named_list";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { Opener } from "./agents";
import { Part, removing } from "./part";
import { t } from "./texts";

type Plugin = Schema<"PluginRow">;

const WAITS: Record<string, "waits_programs" | "waits_texts"> = { programs: "waits_programs", texts: "waits_texts" };

export function Plugins() {
  const found = useResource(async (signal) => (await api.get("/api/plugins", { signal })).plugins, "plugins", ["plugins"]);
  const leftOut = useResource(async (signal) => (await api.get("/api/plugins", { signal })).left_out, "plugins left out", ["plugins"]);
  const [shown, setShown] = useState<string>();
  return (
    <>
      <Part
        icon="modules"
        name={t("plugins")}
        text={t("plugins_text")}
        add={t("add_plugin")}
        mayAdd={may("plugins", "admin")}
        found={found}
        line={(plugin) => (
          <Row
            key={plugin.slug}
            title={<Opener name={plugin.name} onOpen={() => setShown(plugin.slug)} />}
            badges={
              <>
                <Badge text={t("version", { version: plugin.version })} />
                {plugin.waiting.map((part) => (
                  <Badge key={part} text={WAITS[part] ? t(WAITS[part]) : part} kind="warning" />
                ))}
              </>
            }
            text={
              <bdi>
                {[plugin.problem ? said(plugin.problem) : plugin.description, ...counts(plugin)].filter(Boolean).join(" · ")}
              </bdi>
            }
          />
        )}
        dialog={(close) => <InstallDialog onClose={close} />}
      />
      {!!leftOut.value?.length && (
        <Section title={t("left_out")}>
          <NamedList entries={leftOut.value.map(({ name, reason }) => ({ name, description: said(reason) }))} />
        </Section>
      )}
      {shown && <PluginDialog slug={shown} onClose={() => setShown(undefined)} reload={found.reload} />}
    </>
  );
}

function counts(plugin: Plugin): string[] {
  return (["skills", "agents", "mcps"] as const).filter((kind) => plugin[kind].length).map((kind) => `${t(kind)}: ${plugin[kind].length}`);
}

function InstallDialog({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [slug, setSlug] = useState("");
  const [isBusy, setBusy] = useState(false);
  const install = () =>
    attempt(async () => {
      setBusy(true);
      try {
        const { plugin } = await api.post("/api/plugins/install", { body: { url, ...(slug && { slug }) } });
        toast(t("installed", { name: plugin.name }));
        onClose();
      } finally {
        setBusy(false);
      }
    });
  return (
    <Dialog title={t("add_plugin")} onClose={onClose}>
      <Form onSubmit={install}>
        <TextField label={t("url")} hint={t("url_hint")} value={url} onInput={setUrl} required autofocus />
        <TextField label={t("slug")} hint={t("slug_hint")} value={slug} onInput={setSlug} />
        <p class="muted">{t("installing")}</p>
        <Button label={t("install")} kind="primary" submit disabled={isBusy} />
      </Form>
    </Dialog>
  );
}

function PluginDialog({ slug, onClose, reload }: { slug: string; onClose: () => void; reload: () => Promise<void> }) {
  const params = { slug };
  const found = useResource((signal) => api.get("/api/plugins/{slug}", { params, signal }), slug, ["plugins"]);
  const [changes, setChanges] = useState<Schema<"PluginUpdate">>();
  const isAdmin = may("plugins", "admin");
  const approve = async (plugin: Plugin) => {
    await api.post("/api/plugins/{slug}/approve", { params, body: { hash: plugin.hash, parts: plugin.waiting } });
    await Promise.all([found.reload(), reload()]);
  };
  const look = async () => setChanges(await api.post("/api/plugins/{slug}/changes", { params }));
  const update = async (plugin: Plugin) => {
    const hash = changes?.hash;
    await api.post("/api/plugins/{slug}/update", { params, body: hash ? { hash } : {} });
    setChanges(undefined);
    toast(t("updated", { name: plugin.name }));
    await Promise.all([found.reload(), reload()]);
  };
  return (
    <Dialog title={found.value?.name ?? slug} onClose={onClose} isWide>
      <Loaded of={found}>
        {(plugin) => (
          <>
            <p>
              <bdi>{plugin.description}</bdi>
            </p>
            {plugin.problem && (
              <Notice kind="danger">
                <p>{said(plugin.problem)}</p>
              </Notice>
            )}
            <Facts
              facts={[
                [t("url"), <bdi>{plugin.sourceUrl ?? plugin.source}</bdi>],
                ...(["skills", "agents", "mcps"] as const).map((kind) => [t(kind), <bdi>{plugin[kind].join(", ") || "–"}</bdi>] as const),
                [t("costs"), t("tokens", { n: plugin.tokens })],
                ...(plugin.notRun.length ? [[t("not_run"), <bdi>{plugin.notRun.join(", ")}</bdi>] as const] : []),
              ]}
            />
            {plugin.contents && plugin.contents.rights.length > 0 && (
              <Section title={t("rights")}>
                <ul class="details-list">
                  {plugin.contents.rights.map((right) => (
                    <li key={right}>
                      <bdi>{right}</bdi>
                    </li>
                  ))}
                </ul>
              </Section>
            )}
            {changes !== undefined && (
              <Section title={t("changes")}>
                {changes === null ? <p>{t("no_update")}</p> : <Details value={changes} />}
              </Section>
            )}
            {isAdmin && (
              <div class="buttons">
                {plugin.source === "parachute" && (
                  <Button label={t("remove")} onPress={() => removing(plugin.name, () => api.delete("/api/plugins/{slug}", { params }), reload, onClose)} />
                )}
                {changes === undefined ? (
                  <Button label={t("check")} onPress={look} />
                ) : (
                  <Button label={t("update")} kind="primary" onPress={() => update(plugin)} />
                )}
                {plugin.waiting.length > 0 && <Button label={t("approve")} kind="primary" onPress={() => approve(plugin)} />}
              </div>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
