/** The field of one setting, by its kind. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Choice, Form, Switch, TextField } from "~/components/field";
import { said } from "~/text/server_sentences";
import type { Setting } from "./models";
import { valueName } from "./setting_values";
import { labelOf } from "./setting_words";
import { t } from "./texts";

const LONG = 24;

interface Props {
  setting: Setting;
  onChange: (value: unknown) => unknown;
  onReset: () => unknown;
}

export function SettingField({ setting, onChange, onReset }: Props) {
  const { can_change: canChange, kind } = setting;
  const description = said(setting.description);
  const label = labelOf(setting);
  if (!canChange) {
    return (
      <>
        <p>
          <strong>{label}</strong>
        </p>
        <p class="muted">{description}</p>
        <pre class="text-block" tabIndex={0} aria-label={label}>{shown(setting, setting.value)}</pre>
      </>
    );
  }
  const standard = shown(setting, setting.default);
  const isShort = kind === "word" || (standard.length <= LONG && !standard.includes("\n"));
  const hint = isShort ? `${description} ${t("default_is", { value: standard })}` : description;
  const reset = setting.source === "file" && <Button label={t("to_default")} kind="quiet" onPress={onReset} />;
  const withReset = (field: ComponentChildren) => (
    <>
      {field}
      {reset && <div class="buttons">{reset}</div>}
    </>
  );
  if (kind === "boolean") {
    return withReset(<Switch label={label} hint={hint} isOn={setting.value === true} onChange={onChange} />);
  }
  if (kind === "word") {
    const empty = setting.may_be_empty ? [{ value: "", label: t("nothing") }] : [];
    const options = [...empty, ...setting.allowed.map((value) => ({ value, label: valueName(setting.name, value) }))];
    return withReset(
      <Choice label={label} hint={hint} value={written(setting.value)} options={options} onChange={(value) => onChange(value || null)} />,
    );
  }
  return <Typed setting={setting} label={label} hint={hint} onChange={onChange} reset={reset} />;
}

/** A text, number, time or list, which is sent with a button. */
function Typed({ setting, label, hint, onChange, reset }: Omit<Props, "onReset"> & { label: string; hint: string; reset: ComponentChildren }) {
  const before = setting.is_masked ? "" : written(setting.value);
  const [text, setText] = useState(before);
  const isLong = setting.kind === "list" || setting.kind === "mapping";
  const isNumber = setting.kind === "integer" || setting.kind === "number";
  const hints = [
    hint,
    setting.kind === "list" && t("one_a_line"),
    setting.kind === "mapping" && t("names_a_line"),
    setting.kind === "list" && !setting.expects.startsWith("a list") && t("expects", { what: setting.expects }),
    setting.is_masked && t("masked"),
  ];
  return (
    <Form onSubmit={() => onChange(parsed(setting, text))}>
      <TextField
        label={label}
        hint={hints.filter(Boolean).join(" ")}
        type={setting.unit === "time" ? "time" : isNumber ? "number" : "text"}
        value={text}
        onInput={setText}
        rows={isLong ? Math.min(8, text.split("\n").length + 1) : undefined}
        monospace={isLong}
        autocomplete="off"
        required={setting.is_masked}
      />
      {(text !== before || reset) && (
        <div class="buttons">
          {reset}
          {text !== before && <Button label={t("save")} kind="primary" submit />}
        </div>
      )}
    </Form>
  );
}

/** A value in words. */
function shown({ name, kind }: Setting, value: unknown): string {
  if (kind === "boolean") return value === true ? t("on") : t("off");
  const text = written(value);
  return (kind === "word" ? valueName(name, text) : text) || t("nothing");
}

/** A value as it stands in a field: a list has an entry in each line, a mapping a name with its entries. */
function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join("\n");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).map(([name, entries]) => `${name}: ${Array.isArray(entries) ? entries.join(", ") : typeof entries === "object" ? JSON.stringify(entries) : String(entries)}`).join("\n");
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
