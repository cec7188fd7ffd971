/** The page of shortcuts, and the switch for those of single keys. */
import "~/main";
import { Fragment } from "preact";
import { Dialog } from "~/components/dialog";
import { Switch } from "~/components/field";
import { screens } from "~/screens";
import { LETTERS, modifier, singleKeys, together } from "../shortcuts";
import { opened } from "./open";
import { t } from "./texts";

export default function ShortcutsPage() {
  const places = screens().filter(({ name }) => LETTERS[name]);
  const isOn = singleKeys.value === "on";
  return (
    <Dialog title={t("shortcuts")} onClose={() => (opened.value = undefined)} isWide>
      <div class="shortcuts">
        <Part
          title={t("anywhere")}
          lines={[
            [t("search"), together("mod", "K")],
            [t("new_conversation"), together("mod", "shift", "O")],
            [t("close"), ["Esc"]],
          ]}
        />
        {isOn && (
          <>
            <Part
              title={t("single_title")}
              lines={[
                [t("new_conversation"), ["N"]],
                [t("focus"), ["/"]],
                [t("help"), ["?"]],
              ]}
            />
            <Part title={t("go_to")} lines={places.map(({ name, title }) => [title(), ["G", t("then"), LETTERS[name]?.toUpperCase() ?? ""]])} />
          </>
        )}
      </div>
      <Switch
        label={t("single_keys")}
        hint={t("single_keys_hint", { modifier: modifier() })}
        isOn={isOn}
        onChange={(on) => (singleKeys.value = on ? "on" : "off")}
      />
    </Dialog>
  );
}

function Part({ title, lines }: { title: string; lines: (readonly [string, string[]])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(([name, keys]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {keys.map((key, index) => (
                <Fragment key={index}>{key === t("then") ? <span class="muted"> {key} </span> : <kbd>{key}</kbd>}</Fragment>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
