/** Menu of actions for one thing, from below on a phone. */
import { ask, Dialog } from "./dialog";
import { Icon, type IconName } from "./icons";

export interface Choice<T extends string> {
  value: T;
  label: string;
  icon: IconName;
  isDanger?: boolean;
  /** True for the one that holds now. */
  isChosen?: boolean;
}

/** Ask for one of the words; undefined if there was none. */
export function choose<T extends string>(title: string, choices: readonly Choice<T>[]): Promise<T | undefined> {
  return ask<T>((close) => (
    <Dialog title={title} onClose={() => close()}>
      <ul class="menu">
        {choices.map(({ value, label, icon, isDanger, isChosen }) => (
          <li key={value}>
            <button type="button" class={`menu-entry${isDanger ? " danger" : ""}`} aria-current={isChosen || undefined} onClick={() => close(value)}>
              <Icon name={icon} />
              <span>
                <bdi>{label}</bdi>
              </span>
              {isChosen && <Icon name="check" />}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  ));
}
