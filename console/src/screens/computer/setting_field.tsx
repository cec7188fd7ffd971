/** The field of one setting, by its kind. */
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Choice, Form, Switch, TextField } from "~/components/field";
import type { Setting } from "./models";
import { t } from "./texts";

const LONG = 24;

interface Props {
  setting: Setting;
  onChange: (value: unknown) => unknown;
  onReset: () => unknown;
}

export function SettingField({ setting, onChange, onReset }: Props) {
  const [text, setText] = useState(setting.is_masked ? "" : written(setting.value));
  const { description: label, can_change: canChange } = setting;
  const isSet = setting.source === "file";
  const standard = written(setting.default) || t("nothing");
  const back = standard.length > LONG || standard.includes("\n") ? t("to_default") : t("default", { value: standard });
  const reset = canChange && isSet && <Button label={back} kind="quiet" onPress={onReset} />;
  if (!canChange) {
    return (
      <>
        <p>{label}</p>
        <pre class="text-block" tabIndex={0} aria-label={setting.name}>{written(setting.value) || t("nothing")}</pre>
      </>
    );
  }
  if (setting.kind === "boolean") {
    return (
      <>
        <Switch label={label} isOn={setting.value === true} onChange={onChange} />
        {reset && <div class="buttons">{reset}</div>}
      </>
    );
  }
  if (setting.kind === "word") {
    const empty = setting.may_be_empty ? [{ value: "", label: t("nothing") }] : [];
    const options = [...empty, ...setting.allowed.map((value) => ({ value, label: value }))];
    return (
      <>
        <Choice label={label} value={written(setting.value)} options={options} onChange={(value) => onChange(value || null)} />
        {reset && <div class="buttons">{reset}</div>}
      </>
    );
  }
  const isList = setting.kind === "list";
  const isLong = isList || setting.kind === "mapping";
  const isPlainList = isList && setting.expects.startsWith("a list");
  const hint = [
    isList && t("one_a_line"),
    !isPlainList && setting.kind !== "mapping" && !/^a (text|path)/.test(setting.expects) && t("expects", { what: setting.expects }),
    setting.kind === "mapping" && t("names_a_line"),
    setting.is_masked && t("masked"),
  ];
  return (
    <Form onSubmit={() => onChange(parsed(setting, text))}>
      <TextField
        label={label}
        hint={hint.filter(Boolean).join(" ")}
        value={text}
        onInput={setText}
        rows={isLong ? Math.min(8, text.split("\n").length + 1) : undefined}
        monospace={isLong}
        autocomplete="off"
        required={setting.is_masked}
      />
      <div class="buttons">
        {reset}
        {text !== (setting.is_masked ? "" : written(setting.value)) && <Button label={t("save")} kind="primary" submit />}
      </div>
    </Form>
  );
}

/** A value as it stands in a field: a list has an entry in each line, a mapping a name with its entries. */
function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("\n");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).map(([name, entries]) => `${name}: ${Array.isArray(entries) ? entries.join(", ") : String(entries)}`).join("\n");
  }
  return value === null || value === undefined ? "" : String(value);
}

/** Return the text of a field as a value; the server says what is wrong with it. */
function parsed({ kind, may_be_empty: mayBeEmpty }: Setting, text: string): unknown {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  // A single word may stand for a list, such as `all`: the server knows which.
  if (kind === "list") return lines.length === 1 ? lines[0] : lines;
  if (kind === "mapping") {
    return Object.fromEntries(
      lines.map((line) => {
        const [name = "", ...rest] = line.split(":");
        return [name.trim(), rest.join(":").split(",").map((entry) => entry.trim()).filter(Boolean)];
      }),
    );
  }
  const plain = text.trim();
  if (plain === "" && mayBeEmpty) return null;
  const isNumber = kind === "integer" || kind === "number";
  return isNumber && plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : plain;
}
