/** Bringing conversations and notes from elsewhere: choosing an export, looking at it first, and what was brought before. */
import { useRef, useState } from "preact/hooks";
import { api, upload } from "~/api/client";
import { Button } from "~/components/button";
import { Choice, Form, Switch } from "~/components/field";
import { FileField } from "~/components/file_field";
import { Ago, Badge, Loaded, Page, Progress, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { chosen } from "./chosen";
import { type ImportState, KINDS, type Kind } from "./import_data";
import { t } from "./texts";

export function Imports() {
  const imports = useResource(
    async (signal) => (await api.module<{ imports: ImportState[] }>("GET", "/api/imports", { signal })).imports,
    "imports",
    ["imports"],
  );
  return (
    <Page title={t("import")} back={to("conversations")}>
      <p class="muted">{t("import_text")}</p>
      {may("imports", "admin") ? <New /> : <p>{t("import_owner")}</p>}
      <Loaded of={imports}>
        {(all) =>
          all.length > 0 && (
            <Section title={t("earlier")}>
              <ul class="rows" aria-label={t("earlier")}>
                {all.map((each) => (
                  <Earlier key={each.id} found={each} />
                ))}
              </ul>
            </Section>
          )
        }
      </Loaded>
    </Page>
  );
}

function Earlier({ found }: { found: ImportState }) {
  return (
    <Row
      title={<bdi>{found.name}</bdi>}
      href={to("conversations", ["import", found.id])}
      badges={
        <>
          {found.dryRun && <Badge text={t("dry_run")} />}
          <Badge text={t(`state_${found.state}`)} kind={found.state === "failed" ? "danger" : found.state === "done" ? "good" : "plain"} />
        </>
      }
      text={
        <>
          <Ago time={found.startedAt} />
          {" · "}
          {found.entries > 0
            ? t("entries", { n: found.dryRun ? found.entries : found.entriesImported })
            : t("conversations", { n: found.dryRun ? found.conversations : found.imported })}
        </>
      }
    />
  );
}

function New() {
  const [file, setFile] = useState<File>();
  const [kind, setKind] = useState<Kind>("auto");
  const [archived, setArchived] = useState(false);
  const [sent, setSent] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const begin = async (dryRun: boolean) => {
    if (!file) return;
    chosen.value = { file, kind, archived };
    const { signal } = (running.current = new AbortController());
    setSent(0);
    try {
      const query = { kind, name: file.name.slice(0, 200), dry_run: dryRun, archived };
      const begun = await upload<ImportState>("POST", "/api/imports", file, { query, signal, onProgress: setSent });
      go(to("conversations", ["import", begun.id]));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      setSent(undefined);
    }
  };
  const kinds = KINDS.map((value) => ({ value, label: t(`kind_${value}`) }));
  if (sent !== undefined && file) {
    return (
      <div class="form">
        <p role="status">
          {t("uploading", { name: file.name })}
        </p>
        <Progress label={t("uploading", { name: file.name })} value={sent} />
        <div class="form-actions">
          <Button label={t("cancel")} onPress={() => running.current?.abort()} />
        </div>
      </div>
    );
  }
  return (
    <Form onSubmit={() => attempt(() => begin(true))}>
      <FileField label={t("file")} hint={t("file_hint")} accept=".zip,.json,.db,.sqlite" file={file} onChoose={setFile} />
      <Choice label={t("kind")} value={kind} options={kinds} onChange={setKind} />
      <Switch label={t("put_away")} hint={t("put_away_hint")} isOn={archived} onChange={setArchived} />
      <div class="form-actions">
        <Button label={t("import_now")} disabled={!file} onPress={() => begin(false)} />
        <Button label={t("look_first")} kind="primary" submit disabled={!file} />
      </div>
    </Form>
  );
}
