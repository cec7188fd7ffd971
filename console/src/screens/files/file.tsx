/** One file: a text or a picture as it is, anything else to be saved. */
import { useEffect, useState } from "preact/hooks";
import { api, download } from "~/api/client";
import { Button } from "~/components/button";
import { Details } from "~/components/details";
import { Empty, Loaded, Page } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go } from "~/state/router";
import { may } from "~/state/session";
import { moment } from "~/text/messages";
import { Markdown } from "~/text/markdown";
import { ActionsDialog } from "./actions";
import { Editor } from "./editor";
import { Path } from "./folder";
import { folderOf, join, nameOf, partsOf, placeOf, previewOf, type TextFile } from "./models";
import { t } from "./texts";
import { save } from "./transfers";
import { Transfers } from "./transfers_view";

export function FilePage({ folder, name }: { folder: string; name: string }) {
  const path = join(folder, name);
  const [isMore, setMore] = useState(false);
  const preview = previewOf(name);
  return (
    <Page
      title={name}
      back={placeOf(folder)}
      actions={
        <>
          <Button label={t("download")} icon="download" onPress={() => save(path, null)} />
          <Button label={t("more_about", { name })} icon="more" iconOnly onPress={() => setMore(true)} />
        </>
      }
    >
      <Path path={path} />
      <Transfers />
      {preview === "image" ? <Picture path={path} /> : preview === "none" ? <NoPreview path={path} /> : <Text path={path} isMarkdown={preview === "markdown"} />}
      {isMore && (
        <ActionsDialog
          path={path}
          isFolder={false}
          size={null}
          onClose={() => setMore(false)}
          onDone={(now) => {
            setMore(false);
            go(now === null ? placeOf(folder) : placeOf(folderOf(now), nameOf(now)), { replace: true });
          }}
        />
      )}
    </Page>
  );
}

function Text({ path, isMarkdown }: { path: string; isMarkdown: boolean }) {
  const found = useResource((signal) => api.get("/api/read", { query: { path }, signal }), `text/${path}`, ["files"]);
  const [edited, setEdited] = useState<TextFile>();
  if (edited) {
    const done = (file?: TextFile) => {
      if (file) found.set(file);
      setEdited(undefined);
    };
    return <Editor file={edited} onDone={done} />;
  }
  return (
    <Loaded of={found}>
      {(file) => (
        <>
          <div class="files-line">
            <p class="muted">{moment(file.lastModified)}</p>
            {may("vault", "write") && <Button label={t("edit")} icon="edit" kind="primary" onPress={() => setEdited(file)} />}
          </div>
          {file.content === "" ? (
            <p class="muted">{t("empty_file")}</p>
          ) : isMarkdown ? (
            <Written text={file.content} />
          ) : (
            <pre class="text-block files-text" tabIndex={0} aria-label={nameOf(path)}>{file.content}</pre>
          )}
        </>
      )}
    </Loaded>
  );
}

/** A page of Markdown, with its front matter as a table that can be opened. */
function Written({ text }: { text: string }) {
  const { properties, rest } = partsOf(text);
  return (
    <>
      {Object.keys(properties).length > 0 && (
        <details class="files-properties">
          <summary>{t("properties")}</summary>
          <Details value={properties} />
        </details>
      )}
      <Markdown text={rest} />
    </>
  );
}

function Picture({ path }: { path: string }) {
  const found = useResource(
    (signal) => download("/api/files/download", { query: { path }, signal }),
    `picture/${path}`,
    ["files"],
  );
  return <Loaded of={found}>{(blob) => <Shown blob={blob} name={nameOf(path)} />}</Loaded>;
}

function Shown({ blob, name }: { blob: Blob; name: string }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address ? <img class="files-picture" src={address} alt={name} /> : null;
}

function NoPreview({ path }: { path: string }) {
  return (
    <Empty icon="list" title={t("no_preview")} text={t("no_preview_text")}>
      <Button label={t("download")} icon="download" kind="primary" onPress={() => save(path, null)} />
    </Empty>
  );
}
