/** A month: days with entries are marked, and each day leads to itself. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { days } from "./data";
import { fullDay, month, monthName, shifted, weekdays, weeks } from "./dates";
import { t } from "./texts";

export function Calendar({ date, today }: { date: string; today: string | undefined }) {
  const [first, setFirst] = useState(month(date));
  useEffect(() => setFirst(month(date)), [date]);
  const table = useRef<HTMLTableElement>(null);
  const [sought, setSought] = useState<string>();
  useEffect(() => table.current?.querySelector<HTMLElement>(`[data-day="${sought}"]`)?.focus(), [sought, first]);
  const step = (event: KeyboardEvent) => {
    const from = (event.target as HTMLElement).dataset.day;
    const days = STEPS[event.key];
    if (!from || days === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const day = shifted(from, getComputedStyle(event.currentTarget as HTMLElement).direction === "rtl" && days ** 2 === 1 ? -days : days);
    setFirst(month(day));
    setSought(day);
  };
  // One of the days is reached by the tab key, the others from there by the arrows.
  const reached = sought && month(sought) === first ? sought : month(date) === first ? date : first;
  const last = shifted(month(first, 1), -1);
  const counts = useResource((signal) => days(first, last, signal), first, ["data"]);
  return (
    <section class="calendar" aria-label={t("calendar")}>
      <header>
        <Button label={t("earlier_month")} icon="back" iconOnly kind="quiet" onPress={() => setFirst(month(first, -1))} />
        <h2 aria-live="polite">{monthName(first)}</h2>
        <Button label={t("later_month")} icon="forward" iconOnly kind="quiet" onPress={() => setFirst(month(first, 1))} />
      </header>
      <table ref={table} onKeyDown={step}>
        <thead>
          <tr>
            {weekdays().map(({ short, long }) => (
              <th key={long} scope="col" abbr={long}>
                {short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks(first).map((week, index) => (
            <tr key={index}>
              {week.map((day, place) => (
                <td key={place}>{day && <Day day={day} chosen={date} today={today} count={counts.value?.get(day) ?? 0} isReached={day === reached} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

function Day({ day, chosen, today, count, isReached }: { day: string; chosen: string; today?: string; count: number; isReached: boolean }) {
  const label = count ? `${fullDay(day)}, ${t("entries", { n: count })}` : fullDay(day);
  return (
    <a
      href={to("journal", [day])}
      class={`${count ? "written" : ""}${day === today ? " today" : ""}`}
      data-day={day}
      tabIndex={isReached ? 0 : -1}
      aria-label={label}
      aria-current={day === chosen ? "date" : undefined}
    >
      {Number(day.slice(8))}
    </a>
  );
}
