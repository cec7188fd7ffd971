/** One entry: its time, text, recording and pictures, and changing or removing it. */
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { Markdown } from "~/text/markdown";
import { About } from "./about_what";
import { assetAddress, change, type Entry, pictures, remove, restore, smallAddress } from "./data";
import { Spoken } from "./spoken";
import { t } from "./texts";

interface Props {
  entry: Entry;
  onChange: () => Promise<void>;
}

export function EntryBlock({ entry, onChange }: Props) {
  const [isEditing, setEditing] = useState(false);
  const { text, shown, files } = pictures(entry);
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
          {entry.audio_path && id !== null && may("voice") && <Spoken entry={entry} id={id} name={name} />}
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
          <About mentions={entry.mentions} />
        </>
      )}
    </article>
  );
}

function Edit({ id, entry, onDone, onChange }: Props & { id: string; onDone: () => void }) {
  const [content, setContent] = useState(entry.content);
  const [title, setTitle] = useState(entry.title);
  const save = () =>
    attempt(async () => {
      await change(id, { content, title });
      await onChange();
      onDone();
    });
  return (
    <Form onSubmit={save}>
      <TextField label={t("entry_title")} value={title} onInput={setTitle} autocomplete="off" />
      <TextField label={t("text")} value={content} onInput={setContent} rows={Math.min(20, content.split("\n").length + 4)} autofocus />
      <div class="form-actions">
        <Button label={t("cancel")} onPress={onDone} />
        <Button label={t("save")} kind="primary" submit disabled={!content.trim() && !entry.audio_path} />
      </div>
    </Form>
  );
}
