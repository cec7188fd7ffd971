/** The words of a suggestion, to be changed before they are applied. */
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import type { Suggestion } from "~/components/suggestion";
import { keepDraft, useDrafts } from "~/state/drafts";
import { attempt, toast } from "~/state/toasts";
import { fieldLabel } from "~/text/names";
import { modify } from "./actions";
import { t } from "./texts";

const LONG = 50;
const isLong = (value: unknown) => typeof value !== "string" || value.length > LONG || value.includes("\n");
const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function EditDialog({ suggestion, onClose }: { suggestion: Suggestion; onClose: () => void }) {
  const fields = Object.entries(suggestion.payload);
  const kept = `suggestion/${suggestion.id}`;
  const [texts, setTexts] = useDrafts<Record<string, string>>(kept, Object.fromEntries(fields.map(([name, value]) => [name, shown(value)])));
  const save = () =>
    attempt(async () => {
      const payload: Record<string, unknown> = {};
      for (const [name, before] of fields) {
        const text = texts[name] ?? "";
        try {
          payload[name] = typeof before === "string" ? text : JSON.parse(text);
        } catch {
          toast(t("no_json", { name }), { isError: true });
          return;
        }
      }
      await modify(suggestion, payload);
      keepDraft(kept, "");
      onClose();
    });
  return (
    <Dialog title={t("edit_title")} onClose={onClose} isWide>
      <Form onSubmit={save}>
        {fields.map(([name, value]) => (
          <TextField
            key={name}
            label={fieldLabel(name)}
            hint={typeof value === "string" ? undefined : t("field_json")}
            value={texts[name] ?? ""}
            onInput={(text) => setTexts({ ...texts, [name]: text })}
            rows={isLong(value) || name === "append" || name === "content" ? 6 : undefined}
            monospace={typeof value !== "string"}
          />
        ))}
        <Button label={t("apply")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
