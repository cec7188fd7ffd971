/** One entry: its time, text, recording and pictures, and changing or removing it. */
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { draftOf, keepDraft, useDraft } from "~/state/drafts";
import { newKey } from "~/state/entries";
import { type Said, underway, waiting } from "~/state/letters";
import { post } from "~/state/outbox";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { Markdown } from "~/text/markdown";
import { About, type Subjects, useSubjects } from "./about_what";
import { assetAddress, type Entry, pictures, remove, restore, smallAddress } from "./data";
import { Spoken, useVoice, type Voice } from "./spoken";
import { t } from "./texts";

interface Props {
  entry: Entry;
  voice: Voice | undefined;
  subjects: Subjects | undefined;
  onChange: () => Promise<void>;
}

export function Entries({ entries, onChange }: { entries: Entry[]; onChange: () => Promise<void> }) {
  const shared = { voice: useVoice(entries), subjects: useSubjects(entries), onChange };
  return entries.map((entry, index) => <EntryBlock key={entry.id ?? index} entry={entry} {...shared} />);
}

function EntryBlock({ entry, voice, subjects, onChange }: Props) {
  const [isEditing, setEditing] = useState(false);
  // What was changed without a connection is shown as it will be.
  const pending = entry.id === null ? undefined : waiting.value.find(({ edit }) => edit?.entry === entry.id && edit.theirs === undefined);
  const { text, shown, files } = pictures(pending ? { ...entry, content: pending.content } : entry);
  const hasTitle = entry.title !== "" && entry.title !== entry.time;
  const name = hasTitle ? entry.title : (entry.time ?? t("entry"));
  const id = entry.id;
  const canChange = id !== null && may("daily", "write");
  const drop = async () => {
    if (id === null) return;
    await remove(id);
    const undo = () => void attempt(() => restore(id, entry.date).then(onChange));
    toast(t("deleted"), { action: { label: t("undo"), run: undo } });
    await onChange();
  };
  return (
    <article class="entry" aria-label={name}>
      <header>
        {entry.time && <time>{entry.time}</time>}
        {hasTitle && (
          <h2>
            <bdi>{entry.title}</bdi>
          </h2>
        )}
        {canChange && !isEditing && (
          <div class="entry-actions">
            <Button label={t("edit", { name })} icon="edit" iconOnly kind="quiet" onPress={() => setEditing(true)} />
            <Button label={t("delete", { name })} icon="trash" iconOnly kind="quiet" onPress={drop} />
          </div>
        )}
      </header>
      {isEditing && id !== null ? (
        <Edit id={id} entry={entry} onDone={() => setEditing(false)} onChange={onChange} />
      ) : (
        <>
          {entry.audio_path && (
            <audio controls preload="none" src={assetAddress(entry.audio_path)} aria-label={t("recording", { name })} />
          )}
          {entry.audio_path && id !== null && voice && <Spoken entry={entry} id={id} name={name} voice={voice} />}
          {pending && <p class="muted">{t("changed_here")}</p>}
          {text && <Markdown text={text} />}
          {shown.map(({ path, alt }) => (
            <a key={path} class="entry-picture" href={assetAddress(path)} target="_blank" rel="noopener noreferrer">
              <img src={smallAddress(path)} alt={alt || t("picture")} loading="lazy" />
            </a>
          ))}
          {files.map(({ path, name: file }) => (
            <p key={path}>
              <a href={assetAddress(path)} download={file}>
                <bdi>{file}</bdi>
              </a>
            </p>
          ))}
          <Labels fields={entry.fields} />
          <About mentions={entry.mentions} subjects={subjects} />
        </>
      )}
    </article>
  );
}

/** The tags and the place that stand in the front matter of an entry. */
function Labels({ fields: { tags, place } }: { fields: Entry["fields"] }) {
  const names = Array.isArray(tags) ? tags.map((each) => `#${String(each).replace(/^#/, "")}`) : [];
  const all = [...(typeof place === "string" ? [place] : []), ...names];
  return all.length > 0 ? <p class="entry-labels">{all.map((each) => <bdi key={each}>{each}</bdi>)}</p> : null;
}

function Edit({ id, entry, onDone, onChange }: Pick<Props, "entry" | "onChange"> & { id: string; onDone: () => void }) {
  const pending = waiting.value.find(({ edit }) => edit?.entry === id && edit.theirs === undefined);
  const [content, setContent] = useDraft(`entry/${id}/text`, pending?.content ?? entry.content);
  const [title, setTitle] = useDraft(`entry/${id}/title`, pending?.edit?.title ?? entry.title);
  // The version that the draft was begun on, whatever comes while it is written.
  const base = `entry/${id}/before`;
  const [before] = useState<Said>(() => (draftOf(base) && JSON.parse(draftOf(base))) || (pending?.edit?.before ?? { title: entry.title, content: entry.content, version: entry.version }));
  const type = (say: (text: string) => void) => (text: string) => {
    keepDraft(base, JSON.stringify(before));
    say(text);
  };
  const close = () => {
    keepDraft(base, "");
    setContent(pending?.content ?? entry.content);
    setTitle(pending?.edit?.title ?? entry.title);
    onDone();
  };
  const save = () =>
    attempt(async () => {
      // One that waits already is replaced: both were made on the same version.
      const isReplaced = pending && !underway.value.has(pending.id);
      const letter = { id: isReplaced ? pending.id : newKey(), kind: "edit" as const, at: new Date().toISOString(), date: entry.date, content, edit: { entry: id, title, before } };
      if (await post(letter, { onKept: close })) await onChange();
    });
  return (
    <Form onSubmit={save}>
      <TextField label={t("entry_title")} value={title} onInput={type(setTitle)} autocomplete="off" />
      <TextField label={t("text")} value={content} onInput={type(setContent)} rows={Math.min(20, content.split("\n").length + 4)} autofocus />
      <div class="form-actions">
        <Button label={t("cancel")} onPress={close} />
        <Button label={t("save")} kind="primary" submit disabled={!content.trim() && !entry.audio_path} />
      </div>
    </Form>
  );
}
