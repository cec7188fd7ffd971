/** One file: a text or a picture as it is, anything else to be saved. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, download } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
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
import { type FilePlace, type TextFile, folderOf, join, nameOf, partsOf, placeOf, previewOf } from "./models";
import { t } from "./texts";
import { save } from "./transfers";
import { Transfers } from "./transfers_view";

export function FilePage({ folder, name, at }: { folder: string; name: string; at: FilePlace }) {
  const path = join(folder, name);
  const [isMore, setMore] = useState(false);
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
      <Shown path={path} at={at} />
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

function Shown({ path, at }: { path: string; at: FilePlace }) {
  const preview = previewOf(nameOf(path));
  if (preview === "image") return <Picture path={path} />;
  if (preview === "pdf") return <Pdf path={path} page={at.page} />;
  if (preview === "none") return <NoPreview path={path} at={at} />;
  return <Text key={at.line} path={path} isMarkdown={preview === "markdown"} line={at.line} />;
}

function Text({ path, isMarkdown, line }: { path: string; isMarkdown: boolean; line: number | null | undefined }) {
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
            <Written text={file.content} line={line} />
          ) : (
            <Plain text={file.content} name={nameOf(path)} line={line} />
          )}
        </>
      )}
    </Loaded>
  );
}

/** A page of Markdown, with its front matter as a table that can be opened. */
function Written({ text, line }: { text: string; line: number | null | undefined }) {
  const { properties, rest } = partsOf(text);
  const above = text.slice(0, text.length - rest.length).split("\n").length;
  return (
    <>
      {Object.keys(properties).length > 0 && (
        <details class="files-properties">
          <summary>{t("properties")}</summary>
          <Details value={properties} />
        </details>
      )}
      <Markdown text={rest} line={line ? line - above : undefined} />
    </>
  );
}

/** A text as it is, with the line that is looked for in sight. */
function Plain({ text, name, line }: { text: string; name: string; line: number | null | undefined }) {
  const marked = useRef<HTMLElement>(null);
  useLayoutEffect(() => marked.current?.scrollIntoView({ block: "center" }), [line]);
  const lines = text.split("\n");
  const before = lines.slice(0, (line ?? 1) - 1).map((each) => `${each}\n`).join("");
  const found = line ? lines[line - 1] : undefined;
  return (
    <pre class="text-block files-text" tabIndex={0} aria-label={name}>
      {found === undefined ? text : (
        <>
          {before}
          <mark ref={marked}>{found || " "}</mark>
          {lines.slice(line ?? 0).map((each) => `\n${each}`).join("")}
        </>
      )}
    </pre>
  );
}

/** A PDF file, which the browser itself shows at a page. */
function Pdf({ path, page }: { path: string; page: number | null | undefined }) {
  const found = useResource((signal) => download("/api/files/download", { query: { path }, signal }), `pdf/${path}`, ["files"]);
  return (
    <Loaded of={found}>
      {(blob) => <Opening blob={blob} page={page} />}
    </Loaded>
  );
}

function Opening({ blob, page }: { blob: Blob; page: number | null | undefined }) {
  const address = useAddress(blob, "application/pdf");
  return (
    <Empty icon="list" title={page ? t("found_on_page", { n: page }) : t("no_preview")} text={t("pdf_text")}>
      {address && (
        <LinkButton
          label={page ? t("open_page", { n: page }) : t("open")}
          href={page ? `${address}#page=${page}` : address}
          kind="primary"
          isElsewhere
        />
      )}
    </Empty>
  );
}

function Picture({ path }: { path: string }) {
  const found = useResource(
    (signal) => download("/api/files/download", { query: { path }, signal }),
    `picture/${path}`,
    ["files"],
  );
  return <Loaded of={found}>{(blob) => <Drawn blob={blob} name={nameOf(path)} />}</Loaded>;
}

/** The address of a blob as long as it is shown, with `type` as one of that. */
function useAddress(blob: Blob, type?: string): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(type ? new Blob([blob], { type }) : blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, type]);
  return address;
}

function Drawn({ blob, name }: { blob: Blob; name: string }) {
  const address = useAddress(blob);
  return address ? <img class="files-picture" src={address} alt={name} /> : null;
}

function NoPreview({ path, at }: { path: string; at: FilePlace }) {
  return (
    <Empty icon="list" title={whereIn(at) ?? t("no_preview")} text={t("no_preview_text")}>
      <Button label={t("download")} icon="download" kind="primary" onPress={() => save(path, null)} />
    </Empty>
  );
}

function whereIn({ page, chapter, line }: FilePlace): string | undefined {
  if (page) return t("found_on_page", { n: page });
  if (chapter) return t("found_in_chapter", { n: chapter });
  return line ? t("found_in_line", { n: line }) : undefined;
}
