/** A form of an MCP server at work. */
import { Choice, Switch, TextField } from "~/components/field";
import { messages } from "~/text/messages";
import { type BodyProps, type Card, part, Whole, whole } from "../card";

const t = messages("inbox_cards_mcp_question", {
  sentence: "The MCP server {server} asks you something, during {tools}.",
  sentence_chat: "The MCP server {server} asks you something, during {tools} in “{conversations}”.",
  says: "The server says:",
  careful: "What you answer goes to this server. Never enter a password or a key.",
  required: "Required",
  none: "–",
  label_answer: "Send to the server",
  label_decline: "Decline",
  done_answer: "Your answer was sent.",
  done_decline: "{server} was told that you do not answer.",
});

type Value = string | string[];

interface Field {
  name: string;
  label: string;
  about: string;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  is_required: boolean;
  format: string;
  options: { value: string; label: string }[];
  given: Value;
}

const TYPES = { email: "email", uri: "url", date: "date" } as const;

const fieldsOf = (details: Record<string, unknown>) => details.fields as Field[];

function Body({ item: { details }, values, onChange }: BodyProps) {
  return (
    <>
      <p class="muted">{t("says")}</p>
      <Whole text={details.message} />
      {fieldsOf(details).map((field) => (
        <One key={field.name} field={field} value={values[field.name] ?? field.given} onChange={(value) => onChange({ ...values, [field.name]: value })} />
      ))}
      <p class="muted">{t("careful")}</p>
    </>
  );
}

function One({ field, value, onChange }: { field: Field; value: Value; onChange: (value: Value) => void }) {
  const needed = field.is_required && field.kind !== "boolean" ? t("required") : "";
  const hint = [needed, field.about && whole(field.about)].filter(Boolean).join(" · ") || undefined;
  const shared = { label: part(field.label), hint };
  if (Array.isArray(value)) return <Several field={field} hint={hint} chosen={value} onChange={onChange} />;
  if (field.kind === "boolean") return <Switch {...shared} isOn={value === "true"} onChange={(isOn) => onChange(String(isOn))} />;
  if (field.kind === "choice") {
    const options = field.options.map((option) => ({ value: option.value, label: part(option.label) }));
    return <Choice {...shared} value={value} options={[{ value: "", label: t("none") }, ...options]} onChange={onChange} />;
  }
  const type = field.kind === "text" ? (TYPES[field.format as keyof typeof TYPES] ?? "text") : "number";
  return <TextField {...shared} type={type} autocomplete="off" value={value} onInput={onChange} />;
}

function Several({ field, hint, chosen, onChange }: { field: Field; hint?: string; chosen: string[]; onChange: (value: Value) => void }) {
  const toggle = (value: string, isOn: boolean) => {
    const others = chosen.filter((each) => each !== value);
    onChange(isOn ? [...others, value] : others);
  };
  return (
    <fieldset class="question">
      <legend>
        <bdi>{part(field.label)}</bdi>
      </legend>
      {hint && <small class="hint">{hint}</small>}
      {field.options.map(({ value, label }) => (
        <label key={value} class="option">
          <input type="checkbox" checked={chosen.includes(value)} onChange={(event) => toggle(value, event.currentTarget.checked)} />
          <bdi>{part(label)}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

const listed = (names: unknown) => (names as string[]).map((each) => part(each)).join(", ");

export const card: Card = {
  icon: "capabilities",
  t,
  parts: ({ details }) => ({ server: part(details.server), tools: listed(details.tools), conversations: listed(details.conversations) }),
  sentence: ({ details }) => ((details.conversations as string[]).length > 0 ? "sentence_chat" : "sentence"),
  Body,
  isComplete: ({ details }, values) =>
    fieldsOf(details).every(({ name, kind, is_required, given }) => !is_required || kind === "boolean" || (values[name] ?? given).length > 0),
};
