/** Writing down somebody or something new, and changing what is known. */
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { Choice, Form, TextField } from "~/components/field";
import { Loaded, Page } from "~/components/layout";
import { keepDraft, useDrafts } from "~/state/drafts";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { attempt, toast } from "~/state/toasts";
import { typeName } from "~/text/names";
import { type Change, change, create, type Entity, entity, type Field, type Kind, kinds } from "./data";
import { Fields } from "./fields";
import { t } from "./texts";
import { editable, editorOf, read, written } from "./values";

/** The fields whose text is another one than before, as values. */
function changes(fields: Field[], before: Record<string, unknown>, typed: Record<string, string>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const field of fields) {
    const text = typed[field.name];
    if (text === undefined || text === written(before[field.name])) continue;
    found[field.name] = read(editorOf(field, before[field.name]), text);
  }
  return found;
}

/** Text and fields that were typed. */
interface Written extends Record<string, unknown> {
  content: string;
  typed: Record<string, string>;
}

export function NewEntity({ type, name }: { type: string | undefined; name: string }) {
  const types = useResource((signal) => kinds(signal), "types", ["data"]);
  return (
    <Page title={t("new_long")} back={to("knowledge")}>
      <Loaded of={types}>{(all) => <New types={all} first={type} name={name} />}</Loaded>
    </Page>
  );
}

function New({ types, first, name: given }: { types: Kind[]; first: string | undefined; name: string }) {
  const [type, setType] = useState(types.find((kind) => kind.name === first)?.name ?? types[0]?.name ?? "");
  const [name, setName] = useState(given);
  const [draft, setDraft] = useDrafts<Written>("entity/", { content: "", typed: {} });
  const { content, typed } = draft;
  const fields = editable(types.find((kind) => kind.name === type)?.fields ?? [], undefined);
  const save = () =>
    attempt(async () => {
      const data = Object.fromEntries(Object.entries(changes(fields, {}, typed)).filter(([, value]) => value !== null));
      const made = await create(type, name.trim(), data, content);
      keepDraft("entity/", "");
      toast(t("created", { name: made.name }));
      go(to("knowledge", ["entity", made.para_id]), { replace: true });
    });
  const options = types.map((kind) => ({ value: kind.name, label: `${kind.icon} ${typeName(kind.name)}`.trim() }));
  return (
    <Form onSubmit={save}>
      <TextField label={t("name")} value={name} onInput={setName} required autofocus autocomplete="off" />
      <Choice label={t("type")} value={type} options={options} onChange={setType} />
      <TextField label={t("text")} hint={t("text_hint")} value={content} onInput={(text) => setDraft({ ...draft, content: text })} rows={6} />
      <Fields fields={fields} before={{}} typed={typed} onChange={(fields) => setDraft({ ...draft, typed: fields })} />
      <div class="form-actions">
        <span onClick={() => keepDraft("entity/", "")}>
          <LinkButton label={t("cancel")} href={to("knowledge")} />
        </span>
        <Button label={t("create")} kind="primary" submit disabled={!name.trim()} />
      </div>
    </Form>
  );
}

export function EditEntity({ id }: { id: string }) {
  const both = useResource(async (signal) => ({ of: await entity(id, signal), types: await kinds(signal) }), id);
  return (
    <Page title={t("edit")} back={to("knowledge", ["entity", id])}>
      <Loaded of={both}>{({ of, types }) => <Edit of={of} types={types} />}</Loaded>
    </Page>
  );
}

function Edit({ of, types }: { of: Entity; types: Kind[] }) {
  const [type, setType] = useState(of.type);
  const [name, setName] = useState(of.name);
  const kept = `entity/${of.para_id}`;
  const [draft, setDraft, version] = useDrafts<Written>(kept, { content: of.content, typed: {} }, of.version);
  const { content, typed } = draft;
  const fields = editable(types.find((kind) => kind.name === type)?.fields ?? [], of);
  const back = to("knowledge", ["entity", of.para_id]);
  const save = () =>
    attempt(async () => {
      const body: Change = { data: changes(fields, of, typed) };
      if (name.trim() !== of.name) body.name = name.trim();
      if (type !== of.type) body.type = type;
      if (content !== of.content) body.content = content;
      await change({ ...of, version }, body);
      keepDraft(kept, "");
      toast(t("saved"));
      go(back, { replace: true });
    });
  const known = types.map((kind) => ({ value: kind.name, label: `${kind.icon} ${typeName(kind.name)}`.trim() }));
  const options = known.some(({ value }) => value === of.type) ? known : [{ value: of.type, label: typeName(of.type) || "–" }, ...known];
  return (
    <Form onSubmit={save}>
      <TextField label={t("name")} hint={t("rename_hint")} value={name} onInput={setName} required autocomplete="off" />
      <Choice label={t("type")} value={type} options={options} onChange={setType} />
      <TextField label={t("text")} hint={t("text_hint")} value={content} onInput={(text) => setDraft({ ...draft, content: text })} rows={Math.min(24, content.split("\n").length + 4)} />
      <Fields fields={fields} before={of} typed={typed} onChange={(fields) => setDraft({ ...draft, typed: fields })} />
      <div class="form-actions">
        <span onClick={() => keepDraft(kept, "")}>
          <LinkButton label={t("cancel")} href={back} />
        </span>
        <Button label={t("save")} kind="primary" submit disabled={!name.trim()} />
      </div>
    </Form>
  );
}
