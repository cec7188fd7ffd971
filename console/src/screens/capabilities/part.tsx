/** What the four kinds have in common: a sentence, a list or its emptiness, and the button that adds one. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import type { IconName } from "~/components/icons";
import { Empty, Loaded } from "~/components/layout";
import type { Resource } from "~/state/resource";
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

/** Ask, and then remove something. */
export async function removing(name: string, remove: () => Promise<unknown>, reload: () => Promise<void>): Promise<void> {
  if (!(await confirm(t("remove_title", { name }), t("remove_text"), t("remove")))) return;
  await remove();
  await reload();
}
