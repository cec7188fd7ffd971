import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { attempt } from "~/state/toasts";
import { Icon, type IconName } from "./icons";

interface Props {
  label: string;
  /** Action of the button; while that runs the button is busy, and an error becomes a note. */
  onPress?: () => unknown;
  kind?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** Show the icon alone; the label is then for screen readers and as a tip. */
  iconOnly?: boolean;
  disabled?: boolean;
  submit?: boolean;
  pressed?: boolean;
  children?: ComponentChildren;
}

export function Button({ label, onPress, kind = "plain", icon, iconOnly, disabled, submit, pressed, children }: Props) {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const press = async () => {
    if (!onPress || isRunning.current) return;
    isRunning.current = true;
    const work = attempt(async () => onPress());
    const timer = setTimeout(() => setBusy(true), 100);
    await work;
    clearTimeout(timer);
    isRunning.current = false;
    setBusy(false);
  };
  return (
    <button
      type={submit ? "submit" : "button"}
      class={`button ${kind}${iconOnly ? " icon-only" : ""}`}
      onClick={press}
      // Not while it is busy: a button that is disabled loses the focus, and a dialog could not give it back.
      disabled={disabled}
      aria-busy={isBusy}
      aria-pressed={pressed}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
      {children}
    </button>
  );
}

/** With `isElsewhere` it leads to a page of somebody else, which opens beside this one and learns nothing of it. */
export function LinkButton({ label, href, icon, kind = "plain", iconOnly, isElsewhere }: LinkProps) {
  return (
    <a
      class={`button ${kind}${iconOnly ? " icon-only" : ""}`}
      href={href}
      target={isElsewhere ? "_blank" : undefined}
      rel={isElsewhere ? "noopener noreferrer" : undefined}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
    </a>
  );
}

type LinkProps = Pick<Props, "label" | "icon" | "kind" | "iconOnly"> & { href: string; isElsewhere?: boolean };
