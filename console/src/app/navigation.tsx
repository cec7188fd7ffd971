/** The way to every screen: a bar below on a phone, a column at the side on a desktop. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "~/components/icons";
import { Look, lookTitle } from "~/components/look";
import { type Screen, screens } from "~/screens";
import { useAbove } from "~/state/above";
import { waiting } from "~/state/inbox";
import { place, to } from "~/state/router";
import { messages } from "~/text/messages";
import { Panic } from "~/components/panic";
import { opened } from "./palette/open";
import { together } from "./shortcuts";

const t = messages("navigation", {
  navigation: "Screens",
  skip: "Skip to the content",
  more: "More",
  search: "Search",
  daily: "Every day",
  agents: "Agents",
  computer: "This computer",
  waiting_one: "{n} needs your decision",
  waiting_other: "{n} need your decision",
});

const IN_BAR = 4;
/** Duration of the column's animation, as in its style, in milliseconds. */
const COMING_IN = 200;
const GROUPS = ["daily", "agents", "computer"] as const;

export function Navigation() {
  const all = screens().filter(({ group }) => group !== null);
  const [isOpen, setOpen] = useState(false);
  const column = useRef<HTMLElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [place.value]);
  useAbove(isOpen, () => setOpen(false));
  useEffect(() => {
    if (!isOpen) return;
    // Once it has come in; before that nothing in it can have the focus, and a slow device takes longer than its style says.
    const timer = setInterval(() => {
      const first = column.current?.querySelector("a");
      first?.focus();
      if (document.activeElement === first) clearInterval(timer);
    }, COMING_IN);
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      more.current?.focus();
    };
    addEventListener("keydown", close);
    return () => {
      clearInterval(timer);
      removeEventListener("keydown", close);
    };
  }, [isOpen]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {t("skip")}
      </a>
      <nav ref={column} class={`column${isOpen ? " open" : ""}`} aria-label={t("navigation")}>
        <button type="button" class="button search-everything" aria-keyshortcuts="Control+K Meta+K" onClick={() => (opened.value = "palette")}>
          <Icon name="search" />
          <span>{t("search")}</span>
          <kbd aria-hidden="true">{together("mod", "K").join(" ")}</kbd>
        </button>
        {GROUPS.map((group) => {
          const members = all.filter((screen) => screen.group === group);
          return (
            members.length > 0 && (
              <div key={group} class="column-group">
                <h2>{t(group)}</h2>
                <ul>
                  {members.map((screen) => (
                    <li key={screen.name}>
                      <Way screen={screen} />
                    </li>
                  ))}
                </ul>
              </div>
            )
          );
        })}
        <Panic />
        <details class="column-look">
          <summary>{lookTitle()}</summary>
          <Look />
        </details>
      </nav>
      {isOpen && <div class="column-shade" onClick={() => setOpen(false)} />}
      <nav class="bar" aria-label={t("more")}>
        {all.slice(0, IN_BAR).map((screen) => (
          <Way key={screen.name} screen={screen} isShort />
        ))}
        <button type="button" onClick={() => (opened.value = "palette")}>
          <Icon name="search" />
          <span>{t("search")}</span>
        </button>
        <button ref={more} type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="more" />
          <span>{t("more")}</span>
        </button>
      </nav>
    </>
  );
}

function skip(event: Event) {
  event.preventDefault();
  document.querySelector<HTMLElement>("main h1")?.focus();
}

function Way({ screen, isShort = false }: { screen: Screen; isShort?: boolean }) {
  const count = screen.name === "inbox" ? waiting.value : 0;
  return (
    <a href={to(screen.name)} aria-current={place.value.screen === screen.name ? "page" : undefined}>
      <Icon name={screen.icon} />
      <span>{isShort ? (screen.short ?? screen.title)() : screen.title()}</span>
      {count > 0 && (
        <span class="count" aria-label={t("waiting", { n: count })}>
          {count}
        </span>
      )}
    </a>
  );
}
