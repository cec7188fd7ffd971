/** A new type, or another form of one: what it is called, and which fields its entities have. */
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Choice, Form, Switch, TextField } from "~/components/field";
import { Empty, Loaded, Page, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { attempt, toast } from "~/state/toasts";
import { typeName } from "~/text/names";
import { changeType, createType, type Field, type Kind, kinds, removeType } from "./data";
import { t } from "./texts";

const TYPES = ["any", "string", "text", "integer", "number", "boolean", "date", "url", "enum", "array", "reference"] as const;
const EMPTY: Kind = { name: "", icon: "", folder: "", description: "", entity_count: 0, fields: [] };
const back = to("knowledge", ["types"]);

export function NewType() {
  return (
    <Page title={t("new_type")} back={back}>
      <TypeForm kind={EMPTY} />
    </Page>
  );
}

export function EditType({ name }: { name: string }) {
  const types = useResource((signal) => kinds(signal), "types");
  return (
    <Page title={typeName(name)} back={back}>
      <Loaded of={types}>
        {(all) => {
          const kind = all.find((each) => each.name === name);
          return kind ? <TypeForm kind={kind} /> : <Empty icon="knowledge" title={t("no_type")} text={t("types_text")} />;
        }}
      </Loaded>
    </Page>
  );
}

function TypeForm({ kind }: { kind: Kind }) {
  const isNew = kind === EMPTY;
  const [name, setName] = useState(kind.name);
  const [icon, setIcon] = useState(kind.icon);
  const [description, setDescription] = useState(kind.description);
  const [fields, setFields] = useState<Field[]>(kind.fields.map((field) => (field.is_any ? { ...field, type: "any" } : field)));
  const save = () =>
    attempt(async () => {
      const body = { icon: icon.trim(), description: description.trim(), fields: fields.map(clean).filter(({ name }) => name) };
      await (isNew ? createType(name.trim(), body) : changeType(kind.name, body));
      toast(t("saved"));
      go(back, { replace: true });
    });
  const drop = async () => {
    if (!(await confirm(t("delete_question", { name: kind.name }), t("delete_type_text"), t("delete")))) return;
    await removeType(kind.name);
    toast(t("deleted", { name: kind.name }));
    go(back, { replace: true });
  };
  const set = (index: number, field: Field) => setFields(fields.map((each, place) => (place === index ? field : each)));
  return (
    <Form onSubmit={save}>
      {isNew && <TextField label={t("name")} hint={t("type_name_hint")} value={name} onInput={setName} required autofocus autocomplete="off" />}
      <TextField label={t("icon")} hint={t("icon_hint")} value={icon} onInput={setIcon} autocomplete="off" />
      <TextField label={t("description")} value={description} onInput={setDescription} autocomplete="off" />
      <Section
        title={t("fields")}
        actions={<Button label={t("add_field")} icon="plus" kind="quiet" onPress={() => setFields([...fields, { name: "", type: "any", required: false }])} />}
      >
        {fields.length === 0 && <p class="muted">{t("no_fields")}</p>}
        {fields.map((field, index) => (
          <OneField
            key={index}
            field={field}
            onChange={(next) => set(index, next)}
            onRemove={() => setFields(fields.filter((_, place) => place !== index))}
          />
        ))}
      </Section>
      <div class="form-actions">
        {!isNew && <Button label={t("delete_type")} icon="trash" kind="danger" onPress={drop} />}
        <LinkButton label={t("cancel")} href={back} />
        <Button label={t("save")} kind="primary" submit disabled={!isNew ? false : !name.trim()} />
      </div>
    </Form>
  );
}

function clean(field: Field): Field {
  const values = field.type === "enum" ? field.values?.map((each) => each.trim()).filter(Boolean) : undefined;
  return { ...field, name: field.name.trim(), values };
}

function OneField({ field, onChange, onRemove }: { field: Field; onChange: (field: Field) => void; onRemove: () => void }) {
  const options = TYPES.map((value) => ({ value: value as string, label: t(`holds_${value}`) }));
  const { is_any: _, ...kept } = field;
  const set = (changes: Partial<Field>) => onChange({ ...kept, ...changes });
  return (
    <fieldset class="type-field">
      <legend class="visually-hidden">{field.name || t("new_field")}</legend>
      <div class="type-field-row">
        <TextField label={t("field_name")} value={field.name} onInput={(name) => set({ name })} autocomplete="off" />
        <Choice label={t("holds")} value={field.type} options={options} onChange={(type) => set({ type })} />
        <Button label={t("remove_field", { name: field.name })} icon="trash" iconOnly kind="quiet" onPress={onRemove} />
      </div>
      {field.type === "enum" && (
        <TextField
          label={t("values")}
          hint={t("one_a_line")}
          rows={3}
          value={(field.values ?? []).join("\n")}
          onInput={(text) => set({ values: text.split("\n").map((each) => each.trimStart()) })}
        />
      )}
      <Switch label={t("must_be_there")} isOn={field.required} onChange={(required) => set({ required })} />
    </fieldset>
  );
}
