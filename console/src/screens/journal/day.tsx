/** One day: what is written, what agents made of it, a calendar beside it, and words to search for. */
import { useRef, useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { TextField } from "~/components/field";
import { Empty, Loaded, Notice, Page } from "~/components/layout";
import { Unsent } from "~/components/unsent";
import { useDebounced } from "~/state/debounced";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { titles } from "./about";
import { Calendar } from "./calendar";
import { Composer } from "./composer";
import { dayOf, NOTHING, problems } from "./data";
import { dayName, shifted } from "./dates";
import { Entries } from "./entry";
import { Filters } from "./filters";
import { Found } from "./found";
import { OnThisDay } from "./on_this_day";
import { Pages } from "./pages";
import { t } from "./texts";

const CLOSED = { search: "", filter: NOTHING, isFinding: false, isCalendarOpen: false };

export function Day({ date }: { date: string | undefined }) {
  const day = useResource((signal) => dayOf(date, signal), date ?? "", ["data"]);
  const today = useResource((signal) => dayOf(undefined, signal), "today");
  const broken = useResource(problems, "problems");
  // With the day that they are about, which another day begins without: to empty them in an effect would also empty what
  // somebody types before the first effect runs.
  const [looking, setLooking] = useState({ date, ...CLOSED });
  const { search, filter, isFinding, isCalendarOpen } = looking.date === date ? looking : CLOSED;
  const look = (change: Partial<typeof looking>) => setLooking({ date, search, filter, isFinding, isCalendarOpen, ...change });
  const settled = useDebounced(search).trim();
  const words = search.trim() && settled;
  const isFiltered = filter.tags.length > 0 || filter.place !== "";
  const isLooking = words !== "" || isFiltered;
  const composer = useRef<HTMLTextAreaElement>(null);
  const shown = day.value?.date ?? date;
  const isToday = shown !== undefined && shown === today.value?.date;
  return (
    <Page
      isWide
      title={shown ? dayName(shown) : titles("title")}
    >
      <div class={`journal${isCalendarOpen ? " with-calendar" : ""}`}>
        <div class="journal-day">
          <div class="search-row">
            {shown && (
              <>
                <LinkButton label={t("day_before")} icon="back" kind="quiet" href={to("journal", [shifted(shown, -1)])} iconOnly />
                <LinkButton label={t("day_after")} icon="forward" kind="quiet" href={to("journal", [shifted(shown, 1)])} iconOnly />
              </>
            )}
            <TextField label={t("search")} placeholder={t("search")} isLabelHidden type="search" value={search} onInput={(typed) => look({ search: typed })} onFocus={() => look({ isFinding: true })} />
            <div class="calendar-switch">
              <Button
                label={t("calendar")}
                icon="calendar"
                iconOnly
                kind="quiet"
                pressed={isCalendarOpen}
                onPress={() => look({ isCalendarOpen: !isCalendarOpen })}
              />
            </div>
          </div>
          {(isFinding || isFiltered) && <Filters filter={filter} onChange={(chosen) => look({ filter: chosen })} />}
          {isCalendarOpen && shown && (
            <div class="calendar-below">
              <Calendar date={shown} today={today.value?.date} />
            </div>
          )}
          {broken.value?.slice(0, 5).map(({ path, problem }) => (
            <Notice key={path} kind="warning">
              <p>
                <bdi>{path}</bdi>: {problem}
              </p>
            </Notice>
          ))}
          {!isLooking && <Unsent kinds={["journal", "edit"]} />}
          {isLooking ? (
            <Found words={words} filter={filter} />
          ) : (
            <Loaded of={day}>
              {({ date: of, entries }) => (
                <>
                  {may("daily", "write") && <Composer key={of} date={of} field={composer} onWritten={day.reload} />}
                  <Entries entries={entries} onChange={day.reload} />
                  {entries.length === 0 && (
                    <Empty icon="journal" title={isToday ? t("empty_today") : t("empty")} text={t("empty_text")}>
                      {may("daily", "write") && <Button label={t("begin")} icon="edit" kind="primary" onPress={() => composer.current?.focus()} />}
                    </Empty>
                  )}
                  <Pages date={of} />
                  <OnThisDay date={of} />
                  <div class="form-actions">
                    {!isToday && <LinkButton label={t("to_today")} kind="quiet" href={to("journal")} />}
                    {entries.length > 0 && <LinkButton label={t("history")} icon="undo" kind="quiet" href={to("journal", [of, "history"])} />}
                  </div>
                </>
              )}
            </Loaded>
          )}
        </div>
        {shown && (
          <aside class="journal-aside">
            <Calendar date={shown} today={today.value?.date} />
          </aside>
        )}
      </div>
    </Page>
  );
}
