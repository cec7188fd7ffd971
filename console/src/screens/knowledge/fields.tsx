/** A form's fields for what an entity of a type may have, each as it is written. */
import { Choice, Switch, TextField } from "~/components/field";
import { fieldLabel } from "~/text/names";
import type { Field } from "./data";
import { t } from "./texts";
import { editorOf, written } from "./values";

interface Props {
  fields: Field[];
  /** Present values in the file. */
  before: Record<string, unknown>;
  /** Typed texts, by the names of fields. */
  typed: Record<string, string>;
  onChange: (typed: Record<string, string>) => void;
}

export function Fields({ fields, before, typed, onChange }: Props) {
  return (
    <>
      {fields.map((field) => {
        const { name } = field;
        const editor = editorOf(field, before[name]);
        const value = typed[name] ?? written(before[name]);
        const shared = { label: label(field), hint: field.description, onInput: (text: string) => onChange({ ...typed, [name]: text }) };
        switch (editor) {
          case "none":
            return null;
          case "switch":
            return <Switch key={name} label={shared.label} hint={shared.hint} isOn={value === "true"} onChange={(isOn) => shared.onInput(String(isOn))} />;
          case "choice": {
            const options = ["", ...(field.values ?? [])].map((each) => ({ value: each, label: each || "–" }));
            return <Choice key={name} label={shared.label} hint={shared.hint} value={value} options={options} onChange={shared.onInput} />;
          }
          case "list":
            return <TextField key={name} {...shared} hint={shared.hint ?? t("one_a_line")} value={value} rows={Math.max(2, value.split("\n").length)} />;
          case "lines":
            return <TextField key={name} {...shared} value={value} rows={3} />;
          default:
            return <TextField key={name} {...shared} value={value} type={editor === "line" ? "text" : editor} required={field.required} autocomplete="off" />;
        }
      })}
    </>
  );
}

function label({ name, required }: Field): string {
  const known = name === "aliases" ? t("aliases") : name === "tags" ? t("tags") : fieldLabel(name);
  return required ? t("needed", { name: known }) : known;
}
