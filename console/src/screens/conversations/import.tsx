/** One import: how far it is, what it brought and left out, and taking it back. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, api } from "~/api/client";
import { events } from "~/api/stream";
import { Button, LinkButton } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Switch } from "~/components/field";
import { Badge, Facts, Failure, Loading, Notice, Page, Progress, Section } from "~/components/layout";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { moment, number } from "~/text/messages";
import { type ImportState, isOver, reason } from "./import_data";
import { t } from "./texts";

/** Milliseconds. */
const FRESH = 3_600_000;

/** Follow an import until it is over; `again` does so once more, such as after an undo has begun. */
function useImport(id: string) {
  const [state, setState] = useState<ImportState>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const { signal, abort } = withAbort();
    const follow = async () => {
      try {
        for await (const each of events<ImportState>("GET", "/api/imports/{import_id}/events", { params: { import_id: id }, signal })) {
          setState(each);
        }
      } catch (problem) {
        if (!signal.aborted) setError(problem);
      }
    };
    setError(undefined);
    void follow();
    return abort;
  }, [id, turn]);
  return { state, error, again: () => setTurn(turn + 1) };
}

function withAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

export function Import({ id }: { id: string }) {
  const { state, error, again } = useImport(id);
  return (
    <Page title={state?.dryRun ? t("what_is_in_it") : t("import")} back={to("conversations", ["import"])}>
      {error !== undefined ? <Failure error={error} again={again} /> : state ? <Shown of={state} again={again} /> : <Loading />}
    </Page>
  );
}

function Shown({ of, again }: { of: ImportState; again: () => void }) {
  const [archived, setArchived] = useState(false);
  const params = { import_id: of.id };
  const cancel = () => api.module("DELETE", "/api/imports/{import_id}", { params });
  const undo = async () => {
    if (!isFresh(of) && !(await confirm(t("undo_question", { name: of.name }), t("undo_goes", { what: brought(of) }), t("undo_import")))) return;
    await api.module("POST", "/api/imports/{import_id}/undo", { params });
    again();
  };
  const forget = async () => {
    await api.module("DELETE", "/api/imports/{import_id}", { params });
    go(to("conversations", ["import"]));
  };
  const isOwner = may("imports", "admin");
  const hasBrought = brought(of) !== "";
  const isLook = of.dryRun && of.state === "done" && isOwner;
  const mayUndo = isOver(of) && isOwner && !of.dryRun && hasBrought && of.state !== "undone";
  return (
    <>
      <div class="import-state">
        <h2>
          <bdi>{of.name}</bdi>
        </h2>
        <Badge
          text={t(`state_${of.state}`)}
          kind={of.state === "failed" ? "danger" : of.state === "done" ? "good" : isOver(of) ? "plain" : "accent"}
        />
      </div>
      {!isOver(of) && <Progress label={t(`state_${of.state}`)} value={of.state === "running" ? of.progress : undefined} />}
      <Counts of={of} />
      {of.errors.map((sentence) => (
        <Notice key={sentence} kind="danger">
          <p>{sentence}</p>
        </Notice>
      ))}
      {of.leftOut.length > 0 && <LeftOut of={of} />}
      <Paths title={t("stay_as_they_are")} paths={of.conflicts} />
      <Paths title={t("kept_after_undo")} paths={of.kept} />
      {isLook && of.conversations > 0 && <Switch label={t("put_away")} hint={t("put_away_hint")} isOn={archived} onChange={setArchived} />}
      {mayUndo && <p class="muted">{t("undo_text")}</p>}
      <div class="form-actions">
        {!isOver(of) && isOwner && <Button label={t("cancel")} onPress={cancel} />}
        {isOver(of) && isOwner && !of.dryRun && <Button label={t("forget")} kind="quiet" onPress={forget} />}
        {mayUndo && <Button label={t("undo_import")} icon="undo" kind="danger" onPress={undo} />}
        {isLook && <ForReal of={of} archived={archived} />}
        {!of.dryRun && of.state === "done" && of.entries > 0 && <LinkButton label={t("to_journal")} kind="primary" href={to("journal")} />}
        {!of.dryRun && of.state === "done" && !of.entries && <LinkButton label={t("to_conversations")} kind="primary" href={to("conversations")} />}
      </div>
    </>
  );
}

/** True as long as nobody can have forgotten what an import brought: to undo it needs no question. */
const isFresh = ({ endedAt }: ImportState) => Date.now() - Date.parse(endedAt ?? "") < FRESH;

/** The things that an undo takes back. */
function brought(of: ImportState): string {
  const counts = [
    [of.imported, "conversations"],
    [of.grown, "additions"],
    [of.entriesImported, "entries"],
    [of.filesImported, "files"],
  ] as const;
  return counts
    .filter(([n]) => n > 0)
    .map(([n, what]) => t(what, { n }))
    .join(", ");
}

function Paths({ title, paths }: { title: string; paths: string[] }) {
  if (paths.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="plain-list">
        {paths.map((each) => (
          <li key={each}>
            <bdi>{each}</bdi>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Counts({ of }: { of: ImportState }) {
  const facts: [string, string][] = [];
  const add = (name: string, value: number) => value > 0 && facts.push([name, number(value)]);
  if (of.kind) facts.push([t("kind"), t(`kind_${of.kind}` as "kind_chatgpt")]);
  if (of.conversations || !of.entries) facts.push([t("count_conversations"), number(of.conversations)]);
  add(t("count_entries"), of.entries);
  if (!of.dryRun) add(t("count_entries_imported"), of.entriesImported);
  add(t("count_entries_skipped"), of.entriesSkipped);
  add(t("count_media"), of.media);
  add(t("count_messages"), of.messages);
  add(t("count_documents"), of.documents);
  add(t("count_attachments"), of.attachments);
  if (!of.dryRun) add(t("count_imported"), of.imported);
  add(t("count_grown"), of.grown);
  add(t("count_beside"), of.beside);
  add(t("count_skipped"), of.skipped);
  add(t("count_files"), of.files);
  if (!of.dryRun) add(t("count_files_imported"), of.filesImported);
  add(t("count_files_skipped"), of.filesSkipped);
  add(t("count_suggestions"), of.suggestionsImported);
  if (of.oldest && of.newest) {
    const [first, last] = [of.oldest, of.newest].map((day) => moment(day, { dateStyle: "medium" }));
    facts.push([t("time"), first === last ? `${first}` : `${first} – ${last}`]);
  }
  return <Facts facts={facts} />;
}

function LeftOut({ of }: { of: ImportState }) {
  return (
    <Section title={t("left_out")}>
      <ul class="plain-list">
        {of.leftOut.map((each) => (
          <li key={each.what}>
            <strong>{number(each.count)}</strong>
            {" · "}
            {reason(each)}
            {each.names?.length ? `: ${each.names.join(", ")}` : null}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The button that imports what was looked at: the computer keeps the export of the last look for an hour. */
function ForReal({ of, archived }: { of: ImportState; archived: boolean }) {
  const [isGone, setGone] = useState(false);
  if (isGone) return <LinkButton label={t("choose_again")} kind="primary" href={to("conversations", ["import"])} />;
  const begin = async () => {
    try {
      const query = { kind: of.kind ?? "auto", name: of.name, archived, look: of.id };
      const begun = await api.module<ImportState>("POST", "/api/imports", { query });
      // Of the look nothing is left to go back to.
      go(to("conversations", ["import", begun.id]), { replace: true });
    } catch (error) {
      setGone(error instanceof ApiError && error.key === "export_gone");
      throw error;
    }
  };
  return <Button label={t("import_now")} kind="primary" onPress={begin} />;
}
