/** Common part of the four kinds: a sentence, a list or its emptiness, and the button that adds one. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import type { IconName } from "~/components/icons";
import { Empty, Loaded, Notice } from "~/components/layout";
import type { Resource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

interface Props<T> {
  icon: IconName;
  name: string;
  text: string;
  add: string;
  mayAdd: boolean;
  found: Resource<T[]>;
  line: (entry: T) => ComponentChildren;
  /** The dialog that adds one. */
  dialog: (close: () => void) => ComponentChildren;
}

export function Part<T>({ icon, name, text, add, mayAdd, found, line, dialog }: Props<T>) {
  const [isAdding, setAdding] = useState(false);
  const button = mayAdd && <Button label={add} icon="plus" kind="primary" onPress={() => setAdding(true)} />;
  const close = () => {
    setAdding(false);
    void found.reload();
  };
  return (
    <>
      <Loaded of={found}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty icon={icon} title={name} text={text}>
              {button}
            </Empty>
          ) : (
            <>
              <p class="muted">{text}</p>
              <ul class="rows">{entries.map(line)}</ul>
              <div class="buttons">{button}</div>
            </>
          )
        }
      </Loaded>
      {isAdding && dialog(close)}
    </>
  );
}

/** The reason for which something is not used, or what is odd in it. */
export function Remark({ of }: { of: { problem: string | null; note: string | null } }) {
  const text = of.problem ?? of.note;
  return text === null ? null : (
    <Notice kind="warning">
      <p>{said(text)}</p>
    </Notice>
  );
}

interface Change {
  name: string;
  /** The ETag of what was read. */
  etag: string;
  /** Write the new text, or the one before; the ETag of what is there then. */
  write: (text: "new" | "before", etag: string) => Promise<string>;
  /** The ETag of what is there now. */
  reread: () => Promise<string>;
}

/** Change something, with a button that takes it back; what somebody else wrote meanwhile is not replaced unasked. */
export async function changing({ name, etag, write, reread }: Change): Promise<boolean> {
  let written: string;
  try {
    written = await write("new", etag);
  } catch (error) {
    if (!(error instanceof ApiError && error.key === "changed_meanwhile")) throw error;
    if (!(await confirm(t("changed_title"), t("changed_text", { name }), t("replace")))) return false;
    written = await write("new", await reread());
  }
  toast(t("changed", { name }), { action: { label: t("undo"), run: () => void attempt(() => write("before", written)) } });
  return true;
}

/** Ask, and then remove something; the dialog that shows it closes first, since it would ask for what is gone. */
export async function removing(name: string, remove: () => Promise<unknown>, reload: () => Promise<void>, close = () => {}): Promise<void> {
  if (!(await confirm(t("remove_title", { name }), t("remove_text"), t("remove")))) return;
  close();
  await remove();
  await reload();
}
