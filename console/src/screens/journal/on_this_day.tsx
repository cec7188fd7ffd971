/** Entries of the same day in earlier years, or of a month and a week ago; folded until somebody opens it, and then as it was left. */
import { useResource } from "~/state/resource";
import { preference } from "~/state/preferences";
import { to } from "~/state/router";
import { plain } from "~/text/plain";
import { type EarlierDay, type Entry, onThisDay, pictures } from "./data";
import { fullDay } from "./dates";
import { t } from "./texts";

const LONGEST = 280;
const open = preference("journal-on-this-day", ["yes", "no"], "no");

export function OnThisDay({ date }: { date: string }) {
  const days = useResource((signal) => onThisDay(date, signal), date, ["data"]);
  if (!days.value?.length) return null;
  return (
    <details class="fold on-this-day" open={open.value === "yes"} onToggle={(event) => (open.value = event.currentTarget.open ? "yes" : "no")}>
      <summary>
        {t("on_this_day")}
        <span>{days.value.map(when).join(" · ")}</span>
      </summary>
      {days.value.map((day) => (
        <section key={day.date} aria-label={`${when(day)}, ${fullDay(day.date)}`}>
          <h3>
            <a href={to("journal", [day.date])}>{fullDay(day.date)}</a>
            <span>{when(day)}</span>
          </h3>
          {day.entries.map((entry, index) => (
            <p key={entry.id ?? index}>
              <bdi>{beginning(entry)}</bdi>
            </p>
          ))}
        </section>
      ))}
    </details>
  );
}

const AGO = { year: "years_ago", month: "months_ago", week: "weeks_ago" } as const;

function when({ ago }: EarlierDay): string {
  return t(AGO[ago.unit], { n: ago.count });
}

function beginning(entry: Entry): string {
  const title = entry.title === entry.time ? "" : entry.title;
  const text = plain(pictures(entry).text).trim();
  const all = [title, text].filter(Boolean).join(": ") || (entry.audio_path ? t("spoken_entry") : t("picture"));
  return all.length > LONGEST ? `${all.slice(0, LONGEST).trimEnd()}…` : all;
}
