/** One field that finds screens, conversations, entries, people, files, settings and commands. */
import "~/main";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Icon } from "~/components/icons";
import { useId } from "~/components/ids";
import { Badge } from "~/components/layout";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { FilterChips } from "./filter_chips";
import { applies, type Filters, NONE } from "./filters";
import { local } from "./found";
import { type Answer, FIRST, type Found, type Group, GROUPS } from "./groups";
import { opened, typedAhead } from "./open";
import { placesIn, unreadIn } from "./searched";
import { forgetComputer, sources } from "./sources";
import { t } from "./texts";

/** A word that is being typed is not asked for letter by letter; in milliseconds. */
const PAUSE = 150;

type Answers = Partial<Record<Group, Answer>>;

export default function Palette() {
  const [words, setWords] = useState(typedAhead);
  const [filters, setFilters] = useState(NONE);
  const [active, setActive] = useState<string>();
  const { answers, silent, isSearching } = useAnswers(words.trim(), filters);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => forgetComputer, []);
  const groups = (words.trim() ? GROUPS : FIRST).map((group) => [group, answers[group]?.found ?? []] as const).filter(([, found]) => found.length > 0);
  const all = groups.flatMap(([, found]) => found);
  const chosen = all.find((each) => each.id === active) ?? all[0];
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen?.id]);
  const close = () => (opened.value = undefined);
  const run = (found: Found) => {
    close();
    // Once it has closed: what it leads to may open something itself, and takes the focus.
    requestAnimationFrame(() => void attempt(async () => found.run()));
  };
  const forget = async () => {
    const { askForget } = await import("~/components/forget");
    close();
    requestAnimationFrame(() => void askForget(words.trim()));
  };
  const move = (by: number) => {
    const index = chosen ? all.indexOf(chosen) : 0;
    setActive(all[(index + by + all.length) % all.length]?.id);
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && chosen) run(chosen);
    else return;
    event.preventDefault();
  };
  const places = placesIn(answers);
  const unread = isSearching || !words.trim() ? "" : unreadIn(answers);
  const nothing = places ? t("nothing_in", { words: words.trim(), places }) : t("nothing", { words: words.trim() });
  const said = isSearching ? t("searching") : all.length > 0 ? t("count", { n: all.length }) : nothing;
  return (
    <Dialog title={t("title")} onClose={close} isWide>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label={t("field")}
          placeholder={t("field")}
          aria-expanded={all.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
          autocomplete="off"
          spellcheck={false}
          enterkeyhint="go"
          autofocus
          value={words}
          onInput={(event) => {
            setActive(undefined);
            setWords(event.currentTarget.value);
          }}
          onKeyDown={press}
        />
        <FilterChips filters={filters} onChange={setFilters} />
        <div ref={list} id={`${id}-list`} role="listbox" aria-label={t("results")} class="palette-found">
          {groups.map(([group, found]) => (
            <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
              <h3 id={`${id}-${group}`} role="presentation">
                {t(group)}
              </h3>
              {found.map((each) => (
                <div
                  key={each.id}
                  id={`${id}-${each.id}`}
                  role="option"
                  aria-selected={each === chosen}
                  onPointerMove={() => each !== chosen && setActive(each.id)}
                  onClick={() => run(each)}
                >
                  <Icon name={each.icon} />
                  <span>
                    <bdi>{each.title}</bdi> {each.isByMeaning && <Badge text={t("by_meaning")} />}
                    {each.text && (
                      <small>
                        <bdi>{each.text}</bdi>
                      </small>
                    )}
                  </span>
                </div>
              ))}
            </div>
          ))}
        </div>
        <p class={all.length > 0 ? "visually-hidden" : "muted"} role="status">
          {said}
        </p>
        {unread && <p class="muted">{unread}</p>}
        {words.trim().length > 1 && may("forget", "admin") && (
          <Button label={t("forget_these", { words: words.trim() })} icon="trash" kind="quiet" onPress={forget} />
        )}
        {silent.length > 0 && <p class="muted">{t("not_answered", { names: silent.map((group) => t(group)).join(", ") })}</p>}
      </div>
    </Dialog>
  );
}

/** Results for the words, group by group as it comes; a search that is not needed any more is broken off. */
function useAnswers(words: string, filters: Filters): { answers: Answers; silent: Group[]; isSearching: boolean } {
  const [remote, setRemote] = useState<Answers>({});
  const [silent, setSilent] = useState<Group[]>([]);
  const [waiting, setWaiting] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    // Without words the newest conversations are offered, and of the rest nothing.
    const asked = Object.entries(sources()).filter(
      ([group]) => applies(filters, group as Group) && (words ? words.length > 1 : group === "conversations"),
    );
    const ask = async (group: Group, source: (typeof asked)[number][1]) => {
      const answer = await source(words, filters, stop.signal).catch(() => undefined);
      if (stop.signal.aborted) return;
      setRemote((before) => ({ ...before, [group]: answer }));
      if (!answer) setSilent((before) => [...before, group]);
      setWaiting((count) => count - 1);
    };
    setWaiting(asked.length);
    setSilent([]);
    const timer = setTimeout(
      () => {
        setRemote((before) => Object.fromEntries(Object.entries(before).filter(([group]) => asked.some(([name]) => name === group))));
        for (const [group, source] of asked) void ask(group as Group, source);
      },
      words ? PAUSE : 0,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words, filters]);
  const own = Object.entries(local(words)).filter(([group]) => applies(filters, group as Group));
  return { answers: { ...remote, ...Object.fromEntries(own.map(([group, found]) => [group, { found }])) }, silent, isSearching: waiting > 0 };
}
