/** Bringing conversations and notes from elsewhere: an export is looked at once it is chosen; and what was brought before. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api, upload } from "~/api/client";
import { Button } from "~/components/button";
import { useDrop } from "~/components/drop";
import { Choice } from "~/components/field";
import { FileField } from "~/components/file_field";
import { Ago, Badge, Loaded, Page, Progress, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { dropped } from "./dropped";
import { type ImportState, isOver, KINDS, type Kind } from "./import_data";
import { t } from "./texts";

export function Imports() {
  const imports = useResource(
    async (signal) => (await api.module<{ imports: ImportState[] }>("GET", "/api/imports", { signal })).imports,
    "imports",
    ["imports"],
  );
  const { isOver, heard } = useDrop(([file]) => void (dropped.value = file), may("imports", "admin"));
  return (
    <div class={isOver ? "dropping over" : "dropping"} {...heard}>
      <Page title={t("import")} back={to("conversations")}>
        <p class="muted">{t("import_text")}</p>
        {may("imports", "admin") ? <New /> : <p>{t("import_owner")}</p>}
        <Loaded of={imports}>
          {(all) =>
            all.some(isKept) && (
              <Section title={t("earlier")}>
                <ul class="rows" aria-label={t("earlier")}>
                  {all.filter(isKept).map((each) => (
                    <Earlier key={each.id} found={each} />
                  ))}
                </ul>
              </Section>
            )
          }
        </Loaded>
      </Page>
    </div>
  );
}

/** True for what is listed: not for a look at an export, of which nothing is left once it is over. */
const isKept = (found: ImportState) => !found.dryRun || !isOver(found);

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
  const [sent, setSent] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  const look = async (file: File | undefined) => {
    if (!file) return;
    if (running.current) return toast(t("one_at_a_time"));
    setFile(file);
    const { signal } = (running.current = new AbortController());
    setSent(0);
    try {
      const query = { kind, name: file.name.slice(0, 200), dry_run: true };
      const begun = await upload<ImportState>("POST", "/api/imports", file, { query, signal, onProgress: setSent });
      go(to("conversations", ["import", begun.id]));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      running.current = undefined;
      setSent(undefined);
    }
  };
  useEffect(() => {
    const file = dropped.value;
    dropped.value = undefined;
    void attempt(() => look(file));
  }, [dropped.value]);
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
    <div class="form">
      <Choice label={t("kind")} value={kind} options={kinds} onChange={setKind} />
      <FileField label={t("file")} hint={t("file_hint")} accept=".zip,.json,.html,.eml,.mbox,.db,.sqlite" file={file} onChoose={(file) => void attempt(() => look(file))} />
    </div>
  );
}
