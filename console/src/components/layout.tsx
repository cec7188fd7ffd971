import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Resource } from "~/state/resource";
import { to } from "~/state/router";
import { explain } from "~/text/errors";
import { ago, messages, moment } from "~/text/messages";
import { Button } from "./button";
import { Panic } from "./panic";
import { Sentence } from "./sentence";
import { Icon, type IconName } from "./icons";

const t = messages("layout", { again: "Try again", loading: "Loading", back: "Back" });

interface PageProps {
  title: string;
  /** Target of the back button of a page below a list. */
  back?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  isWide?: boolean;
}

/** A screen with its heading, which gets the focus when one arrives there. */
export function Page({ title, back, actions, children, isWide }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Parachute`;
  }, [title]);
  // At once: who has chosen a field by then would type into it in vain.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class={`page${isWide ? " wide" : ""}`}>
      <header class="page-header">
        {back && (
          <a class="button quiet icon-only" href={back} aria-label={t("back")} title={t("back")}>
            <Icon name="back" />
          </a>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="page-actions">{actions}</div>}
        <Panic isCompact />
      </header>
      {children}
    </div>
  );
}

export function Section({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="section">
      <header class="section-header">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** Content of a resource, its loading or its error. */
export function Loaded<T>({ of, children }: { of: Resource<T>; children: (value: T) => ComponentChildren }) {
  if (of.value !== undefined) return <>{children(of.value)}</>;
  if (of.error !== undefined) return <Failure error={of.error} again={of.reload} />;
  return <Loading />;
}

export function Loading() {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="visually-hidden">{t("loading")}</span>
    </p>
  );
}

export function Failure({ error, again }: { error: unknown; again?: () => unknown }) {
  return (
    <div class="notice danger" role="alert">
      <p>
        <Sentence text={explain(error)} />
      </p>
      {again && <Button label={t("again")} icon="refresh" onPress={again} />}
    </div>
  );
}

/** Text of a screen without content, and the button that begins it. */
export function Empty({ icon, title, text, children }: { icon: IconName; title: string; text: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </div>
  );
}

export function Notice({ kind = "plain", children }: { kind?: "plain" | "warning" | "danger" | "good"; children: ComponentChildren }) {
  return <div class={`notice ${kind}`}>{children}</div>;
}

export function Badge({ text, kind = "plain" }: { text: string; kind?: "plain" | "good" | "warning" | "danger" | "accent" }) {
  return <span class={`badge ${kind}`}>{text}</span>;
}

/** One line of a list: a title, what is said below it, and buttons; the whole line leads somewhere with `href`. */
export function Row({ title, text, href, badges, actions, icon }: {
  title: ComponentChildren;
  text?: ComponentChildren;
  href?: string;
  badges?: ComponentChildren;
  actions?: ComponentChildren;
  icon?: IconName;
}) {
  return (
    <li class="row">
      {icon && <Icon name={icon} />}
      <div class="row-main">
        <div class="row-title">
          {href ? <a href={href}>{title}</a> : <span>{title}</span>}
          {badges}
        </div>
        {text && <div class="row-text">{text}</div>}
      </div>
      {actions && <div class="row-actions">{actions}</div>}
    </li>
  );
}

export function Ago({ time }: { time: string }) {
  return (
    <time dateTime={time} title={moment(time)}>
      {ago(time)}
    </time>
  );
}

/** Chips of which one is chosen. */
export function Chips<T extends string>({ label, value, options, onChange }: {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.value} type="button" class="chip" aria-pressed={option.value === value} onClick={() => onChange(option.value)}>
          {option.label}
        </button>
      ))}
    </div>
  );
}

/** Parts of a screen, an address each; the one that is shown is in sight also where not all fit. */
export function Tabs({ screen, label, now, tabs }: { screen: string; label: string; now: string; tabs: readonly (readonly [string, string])[] }) {
  const shown = useRef<HTMLAnchorElement>(null);
  useEffect(() => shown.current?.scrollIntoView({ block: "nearest", inline: "center" }), [now]);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, text]) => (
        <a key={name} ref={name === now ? shown : undefined} href={to(screen, [name])} aria-current={name === now ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** Names with their values, such as the facts about a key. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Progress from 0 to 1, or unknown. */
export function Progress({ value, label }: { value?: number; label: string }) {
  return <progress max={1} value={value} aria-label={label} />;
}

