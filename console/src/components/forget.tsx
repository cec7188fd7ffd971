/** Forgetting words: where they are, what of it goes, and what the computer found when it had searched again. */
import { useState } from "preact/hooks";
import { api, ApiError, type Schema } from "~/api/client";
import { attempt } from "~/state/toasts";
import { messages } from "~/text/messages";
import { Button } from "./button";
import { ask, Dialog } from "./dialog";
import { Form, TextField } from "./field";
import { Loading, Notice } from "./layout";

const t = messages("forget", {
  title: "Forget words",
  words: "Words",
  words_hint: "As they were written. Next to each other, whole words only.",
  search: "Search",
  cancel: "Cancel",
  close: "Close",
  searching: "Every file and table is searched. This can take minutes.",
  nowhere: "These words are nowhere.",
  choose: "What is ticked is removed: the line, or else the file, or the whole conversation.",
  also: "Removed without a question:",
  kept: "Not changed; look there yourself:",
  final: "There is no undo. The computer restarts.",
  backup_until: "Backups in {where} may hold the words until {day} at the latest.",
  backup: "{where} holds the words until you remove it.",
  forget: "Remove for good",
  removing: "The words are being removed. The computer restarts; keep this open.",
  proved_one: "{n} file was searched again. The words are gone from everything that was ticked.",
  proved_other: "{n} files were searched again. The words are gone from everything that was ticked.",
  found: "The words are still here:",
  left: "Left:",
  not_back: "It has not ended yet: {problem}",
  memory: "Remembered lines",
  journal: "Journal",
  entities: "People and things",
  notes: "Files",
  conversations: "Conversations",
  histories: "Histories of git",
  databases: "Databases",
  indexes: "Search indexes",
  copies: "Earlier versions",
  runs: "Logs of answers",
  audit: "Audit log",
  logs: "Logs",
  records: "Records",
  settings: "Settings and keys",
  programs: "Programs",
  unknown: "Other files",
  count: "{kind} ({n})",
});

type Plan = Schema<"Plan">;
type Report = Schema<"Report">;
type Held = Schema<"Held">;

/** Between two questions to a computer that restarts; in milliseconds. */
const PAUSE = 1000;
const LONGEST = 30 * 60 * PAUSE;

/** Ask which words, and lead to the end of them. */
export function askForget(words: string): Promise<undefined> {
  return ask((close) => <Forget typed={words} close={() => close()} />);
}

function Forget({ typed, close }: { typed: string; close: () => void }) {
  const [words, setWords] = useState(typed);
  const [waiting, setWaiting] = useState<"searching" | "removing">();
  const [plan, setPlan] = useState<Plan>();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [report, setReport] = useState<Report>();
  const during = async (step: "searching" | "removing", work: () => Promise<void>) => {
    setWaiting(step);
    await attempt(work);
    setWaiting(undefined);
  };
  const search = () => during("searching", async () => setPlan(await api.post("/api/forget", { body: { words } })));
  const remove = (found: Plan) =>
    during("removing", async () => {
      const { last } = await api.get("/api/forget");
      const choices = Object.fromEntries(found.asked.map(({ id, choices }) => [id, left.has(id) ? "leave" : (choices[0] ?? "leave")]));
      await api.post("/api/forget/apply", { body: { plan: found.id, hash: found.hash, choices } });
      setReport(await ended(last?.at));
    });
  const toggle = (id: string, isOn: boolean) => setLeft((before) => new Set(isOn ? [...before].filter((each) => each !== id) : [...before, id]));
  const isKept = plan && plan.asked.length + plan.removed.length === 0;
  const isNowhere = isKept && plan.kept.length === 0;
  if (waiting || report)
    return (
      <Dialog title={t("title")} onClose={close} actions={report && <Button label={t("close")} onPress={close} />}>
        {waiting && <Loading />}
        {waiting && <p role="status">{t(waiting)}</p>}
        {report && <Proof report={report} />}
      </Dialog>
    );
  if (!plan || isNowhere)
    return (
      <Dialog title={t("title")} onClose={close}>
        <Form onSubmit={search}>
          <TextField label={t("words")} hint={t("words_hint")} value={words} onInput={setWords} autofocus required autocomplete="off" />
          {isNowhere && <p role="status">{t("nowhere")}</p>}
          <div class="form-actions">
            <Button label={t("cancel")} onPress={close} />
            <Button label={t("search")} kind="primary" submit disabled={!words.trim()} />
          </div>
        </Form>
      </Dialog>
    );
  const actions = (
    <>
      <Button label={t("cancel")} onPress={close} />
      <Button label={t("forget")} kind="danger" disabled={isKept} onPress={() => remove(plan)} />
    </>
  );
  return (
    <Dialog title={t("title")} onClose={close} isWide actions={actions}>
      <Notice kind="warning">{t("final")}</Notice>
      {plan.asked.length > 0 && <p>{t("choose")}</p>}
      <ul class="plain-list">
        {plan.asked.map((each) => (
          <li key={each.id}>
            <label class="option">
              <input type="checkbox" checked={!left.has(each.id)} onChange={(event) => toggle(each.id, event.currentTarget.checked)} />
              <span>
                {t(each.kind)}: <bdi>{each.kind === "conversations" ? each.title || each.place : each.place}</bdi>
                {each.passage && (
                  <small>
                    <bdi>{each.passage}</bdi>
                  </small>
                )}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Kinds label={t("also")} held={plan.removed} />
      <Kinds label={t("kept")} held={plan.kept} />
      <Backups of={plan.backups} />
    </Dialog>
  );
}

function Proof({ report }: { report: Report }) {
  return (
    <>
      {report.found.length > 0 ? <Kinds label={t("found")} held={report.found} /> : <p role="status">{t("proved", { n: report.searched })}</p>}
      <Kinds label={t("left")} held={report.left} />
      <Backups of={report.backups} />
    </>
  );
}

function Kinds({ label, held }: { label: string; held: Held[] }) {
  if (held.length === 0) return null;
  return (
    <p>
      {label} {held.map(({ kind, count }) => t("count", { kind: t(kind), n: count })).join(", ")}
    </p>
  );
}

function Backups({ of }: { of: Plan["backups"] }) {
  return (
    <>
      {of.map(({ where, until }) => (
        <p key={where} class="muted">
          {until ? t("backup_until", { where, day: until.slice(0, 10) }) : t("backup", { where })}
        </p>
      ))}
    </>
  );
}

/** Wait until the computer is back with another report. Error: ApiError, where it waits for something. */
async function ended(before: string | undefined): Promise<Report> {
  for (const end = Date.now() + LONGEST; Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    const found = await api.get("/api/forget").catch(() => undefined);
    if (found?.problem) throw new ApiError(503, "not_forgotten", t("not_back", { problem: found.problem }));
    if (found?.last && !found.is_under_way && found.last.at !== before) return found.last;
  }
  throw new ApiError(503, "not_back", t("not_back", { problem: "" }));
}
