import type { ComponentChildren } from "preact";
import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { messages } from "~/text/messages";
import { useAbove } from "~/state/above";
import { dialogs } from "~/state/toasts";
import { Button } from "./button";
import { useId } from "./ids";
import { Toasts } from "./toasts";

const t = messages("dialog", { close: "Close", cancel: "Cancel" });

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons at its end. */
  actions?: ComponentChildren;
  isWide?: boolean;
}

/** A window above the page, which keeps the focus; Escape closes it. On a phone it comes from below. */
export function Dialog({ title, onClose, children, actions, isWide }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useAbove(true, onClose);
  // At once: a key that follows is meant for what is there then.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    dialogs.value = [...dialogs.value, heading];
    return () => {
      dialogs.value = dialogs.value.filter((other) => other !== heading);
      shown?.close();
      // Once it is gone: until then nothing outside of it can have the focus.
      requestAnimationFrame(() => before instanceof HTMLElement && before.isConnected && before.focus());
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : ""}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-content">
        <header class="dialog-header">
          <h2 id={heading}>{title}</h2>
          <Button label={t("close")} icon="close" iconOnly kind="quiet" onPress={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
        {actions && <footer class="dialog-actions">{actions}</footer>}
        {dialogs.value.at(-1) === heading && <Toasts />}
      </div>
    </dialog>
  );
}

/** Show a dialog from anywhere; the promise has what it was closed with. */
export function ask<T>(draw: (close: (value?: T) => void) => ComponentChildren): Promise<T | undefined> {
  const root = document.body.appendChild(document.createElement("div"));
  const before = document.activeElement;
  return new Promise((resolve) => {
    const close = (value?: T) => {
      render(null, root);
      root.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(value);
    };
    render(draw(close), root);
  });
}

/** Ask for a yes; anything else is a no. */
export async function confirm(title: string, text: string, yes: string, kind: "primary" | "danger" = "danger"): Promise<boolean> {
  const answer = await ask<boolean>((close) => (
    <Dialog
      title={title}
      onClose={() => close(false)}
      actions={
        <>
          <Button label={t("cancel")} onPress={() => close(false)} />
          <Button label={yes} kind={kind} onPress={() => close(true)} />
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  ));
  return answer ?? false;
}
