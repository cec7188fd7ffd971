/** A folder of the vault: what is in it, and putting more there. */
import { useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { useDrop } from "~/components/drop";
import { Form, TextField } from "~/components/field";
import { Ago, Badge, Empty, Loaded, Page, Row } from "~/components/layout";
import { useDebounced } from "~/state/debounced";
import { useResource } from "~/state/resource";
import { go } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { bytes } from "~/text/messages";
import { titles } from "./about";
import { ActionsDialog } from "./actions";
import { Found } from "./found";
import { HistoryDialog } from "./history";
import { type Entry, folderOf, join, nameOf, placeOf } from "./models";
import { t } from "./texts";
import { uploadAll } from "./transfers";
import { Transfers } from "./transfers_view";

const STEP = 500;

export function Folder({ path }: { path: string }) {
  const [limit, setLimit] = useState(STEP);
  const found = useResource((signal) => api.get("/api/ls", { query: { path, limit }, signal }), `${limit}/${path}`, ["files"]);
  const [chosen, setChosen] = useState<Entry>();
  const [making, setMaking] = useState<"folder" | "text">();
  const [isHistory, setHistory] = useState(false);
  const [search, setSearch] = useState("");
  const settled = useDebounced(search).trim();
  const words = search.trim() && settled;
  const picker = useRef<HTMLInputElement>(null);
  const mayWrite = may("vault", "write");
  const take = (files: File[]) => {
    if (files.length && mayWrite) void uploadAll(path, files, new Set(found.value?.entries.map(({ name }) => name))).then(found.reload);
  };
  const drop = useDrop(take, mayWrite);
  const pick = () => picker.current?.click();
  return (
    <div
      class={drop.isOver ? "dropping over" : "dropping"}
      {...drop.heard}
    >
      <Page
        title={path ? nameOf(path) : titles("title")}
        back={path ? placeOf(folderOf(path)) : undefined}
        actions={
          <>
            {mayWrite && (
              <>
                <Button label={t("upload")} icon="upload" kind="primary" onPress={pick} />
                <Button label={t("new_text")} icon="plus" iconOnly onPress={() => setMaking("text")} />
                <Button label={t("new_folder")} icon="files" iconOnly onPress={() => setMaking("folder")} />
              </>
            )}
            <Button label={t("history")} icon="undo" iconOnly onPress={() => setHistory(true)} />
          </>
        }
      >
        <input
          ref={picker}
          type="file"
          multiple
          class="visually-hidden"
          aria-label={t("choose_files")}
          tabIndex={-1}
          onChange={(event) => {
            take([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        {path && <Path path={path} />}
        <div class="search-row">
          <TextField label={t("search")} placeholder={t("search")} isLabelHidden type="search" value={search} onInput={setSearch} />
        </div>
        <Transfers />
        {words ? <Found words={words} /> : <Loaded of={found}>
          {({ entries, truncated, total }) =>
            entries.length === 0 ? (
              <Empty icon="files" title={t("empty")} text={t("empty_text")}>
                {mayWrite && <Button label={t("upload")} icon="upload" kind="primary" onPress={pick} />}
              </Empty>
            ) : (
              <>
                <ul class="rows">
                  {entries.map((entry) => (
                    <Line key={entry.path} folder={path} entry={entry} onMore={() => setChosen(entry)} />
                  ))}
                </ul>
                {truncated && (
                  <div class="buttons">
                    <Button label={t("more_entries", { n: total - entries.length })} onPress={() => setLimit(limit + STEP)} />
                  </div>
                )}
              </>
            )
          }
        </Loaded>}
      </Page>
      {chosen && (
        <ActionsDialog
          path={chosen.path}
          isFolder={chosen.isDirectory}
          size={chosen.size}
          onClose={() => setChosen(undefined)}
          onDone={() => {
            setChosen(undefined);
            void found.reload();
          }}
        />
      )}
      {making && <MakeDialog folder={path} kind={making} onClose={() => setMaking(undefined)} />}
      {isHistory && <HistoryDialog path={path} onClose={() => setHistory(false)} />}
    </div>
  );
}

/** The folders above, each of which is a link. */
export function Path({ path }: { path: string }) {
  const parts = path.split("/").slice(0, -1);
  return (
    <nav class="files-path" aria-label={t("path")}>
      <a href={placeOf("")}>{titles("title")}</a>
      {parts.map((name, index) => (
        <span key={index}>
          {" / "}
          <a href={placeOf(parts.slice(0, index + 1).join("/"))}>
            <bdi>{name}</bdi>
          </a>
        </span>
      ))}
    </nav>
  );
}

function Line({ folder, entry, onMore }: { folder: string; entry: Entry; onMore: () => void }) {
  const href = entry.isDirectory ? placeOf(entry.path) : entry.isSymlink ? undefined : placeOf(folder, entry.name);
  return (
    <Row
      icon={entry.isDirectory ? "files" : entry.isSymlink ? "link" : "list"}
      title={<bdi>{entry.name}</bdi>}
      href={href}
      badges={entry.isSymlink && <Badge text={t("link")} />}
      text={
        <>
          {entry.size !== null && !entry.isDirectory && `${bytes(entry.size)} · `}
          {entry.isSymlink && <bdi>{entry.symlinkTarget} · </bdi>}
          <Ago time={entry.lastModified} />
        </>
      }
      actions={<Button label={t("more_about", { name: entry.name })} icon="more" iconOnly kind="quiet" onPress={onMore} />}
    />
  );
}

function MakeDialog({ folder, kind, onClose }: { folder: string; kind: "folder" | "text"; onClose: () => void }) {
  const [name, setName] = useState("");
  const make = () =>
    attempt(async () => {
      const wanted = name.trim();
      if (kind === "folder") {
        await api.post("/api/files/folders", { body: { path: join(folder, wanted) } });
        toast(t("made", { name: wanted }));
        go(placeOf(join(folder, wanted)));
      } else {
        const file = wanted.includes(".") ? wanted : `${wanted}.md`;
        const headers = { "if-none-match": "*" };
        await api.put("/api/write", { body: { path: join(folder, file), content: "" }, headers });
        go(placeOf(folder, file));
      }
      onClose();
    });
  return (
    <Dialog title={kind === "folder" ? t("new_folder") : t("new_text")} onClose={onClose}>
      <Form onSubmit={make}>
        <TextField label={t("name")} hint={kind === "text" ? t("text_hint") : undefined} value={name} onInput={setName} required autofocus />
        <div class="buttons">
          <Button label={t("make")} kind="primary" submit />
        </div>
      </Form>
    </Dialog>
  );
}
