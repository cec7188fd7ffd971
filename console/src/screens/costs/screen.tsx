import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { LinkButton } from "~/components/button";
import { Chips, Empty, Loaded, Page, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { dollars, moment } from "~/text/messages";
import { titles } from "./about";
import { Limits } from "./limits";
import { subjectName, tokensOf, type Used } from "./models";
import { t } from "./texts";

type Days = "7" | "30" | "365";
type Named<K extends string> = Used & Record<K, string>;

async function load(days: Days, signal: AbortSignal) {
  const ask = async <K extends "day" | "subject" | "model">(by: K) =>
    (await api.get<{ costs: Named<K>[] }>("/api/usage/costs", { query: { by, days }, signal })).costs;
  const [byDay, bySubject, byModel] = await Promise.all([ask("day"), ask("subject"), ask("model")]);
  return { byDay, bySubject, byModel };
}

export default function Costs() {
  const [days, setDays] = useState<Days>("30");
  const costs = useResource((signal) => load(days, signal), days, ["usage"]);
  return (
    <Page title={titles("title")}>
      <Chips
        label={t("period")}
        value={days}
        options={(["7", "30", "365"] as const).map((value) => ({ value, label: t(`days_${value}`) }))}
        onChange={setDays}
      />
      <Loaded of={costs}>
        {({ byDay, bySubject, byModel }) =>
          byDay.length === 0 ? (
            <Empty icon="costs" title={t("empty")} text={t("empty_text")}>
              <LinkButton label={t("talk")} icon="chat" kind="primary" href={to("chat")} />
            </Empty>
          ) : (
            <>
              <Total days={byDay} />
              <ByDay days={byDay} period={Number(days)} />
              <Table title={t("by_subject")} rows={bySubject.map((row) => [subjectName(row.subject), row])} />
              <Table title={t("by_model")} rows={byModel.map((row) => [row.model, row])} />
            </>
          )
        }
      </Loaded>
      <Limits />
    </Page>
  );
}

function Total({ days }: { days: Used[] }) {
  const sum = (value: (used: Used) => number) => days.reduce((total, used) => total + value(used), 0);
  const unpriced = sum((used) => used.unpriced);
  return (
    <div class="total">
      <p class="total-money">{dollars(sum((used) => used.dollars))}</p>
      <p class="muted">
        {t("requests", { n: sum((used) => used.requests) })} · {t("tokens", { n: sum(tokensOf) })}
      </p>
      {unpriced > 0 && <p class="muted">{t("unpriced", { n: unpriced })}</p>}
    </div>
  );
}

/** A bar for each day of the period; the list of the days with requests is what screen readers read. */
function ByDay({ days, period }: { days: Named<"day">[]; period: number }) {
  const byName = new Map(days.map((used) => [used.day, used]));
  const names = Array.from({ length: period }, (_, index) => dayBefore(period - 1 - index));
  const size = (used: Used | undefined) => (used ? used.dollars || tokensOf(used) / 1e6 : 0);
  const most = Math.max(...days.map(size), 1e-9);
  return (
    <Section title={t("by_day")}>
      <svg class="day-bars" viewBox={`0 0 ${period} 40`} preserveAspectRatio="none" aria-hidden="true">
        {names.map((day, index) => {
          const height = byName.has(day) ? Math.max(1, (39 * size(byName.get(day))) / most) : 0.3;
          return <rect key={day} x={index + 0.1} y={40 - height} width={0.8} height={height} />;
        })}
      </svg>
      <ul class="visually-hidden">
        {days.map((used) => (
          <li key={used.day}>{t("bar", { day: named(used.day), dollars: dollars(used.dollars), n: used.requests })}</li>
        ))}
      </ul>
      <p class="day-range muted">
        <span>{named(names[0] ?? "")}</span>
        <span>{named(names.at(-1) ?? "")}</span>
      </p>
    </Section>
  );
}

/** The day so many days ago, in the form of the server, ISO 8601. */
function dayBefore(count: number): string {
  return new Date(Date.now() - count * 86_400_000).toLocaleDateString("sv-SE");
}

function named(day: string): string {
  return moment(`${day}T12:00:00`, { dateStyle: "medium" });
}

function Table({ title, rows }: { title: string; rows: (readonly [string, Used])[] }) {
  const sorted = [...rows].sort(([, one], [, other]) => other.dollars - one.dollars || tokensOf(other) - tokensOf(one));
  return (
    <Section title={title}>
      <ul class="rows">
        {sorted.map(([name, used]) => (
          <Row key={name} title={<bdi>{name}</bdi>} text={t("tokens", { n: tokensOf(used) })} actions={<strong>{dollars(used.dollars)}</strong>} />
        ))}
      </ul>
    </Section>
  );
}
