/** The records of what was done, newest first, by page. */
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Details } from "~/components/details";
import { Dialog } from "~/components/dialog";
import { Choice, Switch, TextField } from "~/components/field";
import { Badge, Failure, Loading, Row, Section } from "~/components/layout";
import { toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { type AuditRecord, isInner, sentence, type Titles } from "./sentences";
import { t } from "./texts";

const FILTERS = ["all", "session", "file", "host", "module", "event"] as const;
type FilterName = (typeof FILTERS)[number];

export function Records({ session, titles }: { session?: string; titles: Titles }) {
  const [name, setName] = useState<FilterName>(session ? "session" : "all");
  const [value, setValue] = useState(session ?? "");
  const [day, setDay] = useState("");
  const [records, setRecords] = useState<AuditRecord[]>();
  const [next, setNext] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const [shown, setShown] = useState<AuditRecord>();
  const [isAll, setAll] = useState(false);
  const isEach = isAll || name === "event" || name === "module";
  const visible = records?.filter((record) => isEach || !isInner(record));

  const load = async (before: string | null, signal?: AbortSignal) => {
    const until = day ? new Date(new Date(`${day}T00:00:00`).getTime() + 86_400_000).toISOString() : undefined;
    const query = { limit: isEach ? 50 : 200, before, to: until, ...(name !== "all" && value && { [name]: value }) };
    const page = await api.get<{ records: AuditRecord[]; next: string | null }>("/api/audit", { query, signal });
    setRecords((earlier) => (before ? [...(earlier ?? []), ...page.records] : page.records));
    setNext(page.next);
    setError(undefined);
  };
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => void load(null, stop.signal).catch((problem) => !stop.signal.aborted && setError(problem)), 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [name, value, day, isEach]);

  return (
    <Section title={t("records")} actions={<Verify />}>
      <div class="filters">
        <Choice label={t("filter")} value={name} options={FILTERS.map((each) => ({ value: each, label: t(`filter_${each}`) }))} onChange={setName} />
        {name !== "all" && <TextField label={t("value")} value={value} onInput={setValue} type="search" />}
        <TextField label={t("day")} value={day} onInput={setDay} type="date" />
      </div>
      <Switch label={t("inner")} hint={t("inner_hint")} isOn={isEach} disabled={isEach && !isAll} onChange={setAll} />
      {error !== undefined && <Failure error={error} />}
      {!records && error === undefined && <Loading />}
      {visible?.length === 0 && <p class="muted">{t(next ? "none_here" : "none")}</p>}
      {visible && visible.length > 0 && (
        <ul class="rows">
          {visible.map((record, index) => (
            <Line key={index} record={record} titles={titles} onOpen={() => setShown(record)} />
          ))}
        </ul>
      )}
      {next && <Button label={t("more")} onPress={() => load(next)} />}
      {shown && (
        <Dialog title={t("record")} onClose={() => setShown(undefined)} isWide>
          <p>
            <bdi>{sentence(shown, titles)}</bdi>
          </p>
          <p class="muted">{moment(shown.timestamp)}</p>
          <details class="fold">
            <summary>{t("developers")}</summary>
            <Details value={shown} />
          </details>
        </Dialog>
      )}
    </Section>
  );
}

function Line({ record, titles, onOpen }: { record: AuditRecord; titles: Titles; onOpen: () => void }) {
  return (
    <Row
      title={
        <button type="button" class="as-link" onClick={onOpen}>
          <bdi>{sentence(record, titles)}</bdi>
        </button>
      }
      badges={record.success === false && <Badge text={t("failed")} kind="danger" />}
      text={moment(record.timestamp)}
    />
  );
}

function Verify() {
  const verify = async () => {
    const found = await api.get("/api/audit/verify");
    if (found.is_whole) toast(t("whole"));
    else toast(t("altered", { problems: JSON.stringify(found.problems) }), { isError: true });
  };
  return <Button label={t("verify")} onPress={verify} />;
}
