/** One thing that was shared: what it is, words for it, and the places where it can go. */
import { useEffect, useState } from "preact/hooks";
import { api, ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Icon } from "~/components/icons";
import { savePage } from "~/components/save_page";
import { draftOf, keepDraft } from "~/state/drafts";
import { filesOf, type Letter, letters, put, remove } from "~/state/letters";
import { deliver, later } from "~/state/outbox";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { dayOf, type SharedFile, type Target } from "~/state/shared";
import { toast } from "~/state/toasts";
import { bytes } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

const RECENT = 5;
/** Bytes of a picture that is drawn here as it is. */
const LARGEST_SHOWN = 30_000_000;

export function SharedLetter({ letter }: { letter: Letter }) {
  const name = `shared/${letter.id}`;
  const [content, setContent] = useState(() => draftOf(name) || letter.content);
  const [sent, setSent] = useState<number>();
  const say = (text: string) => {
    keepDraft(name, text);
    setContent(text);
  };
  const send = async (chosen: Letter) => {
    keepDraft(name, "");
    setSent(0);
    try {
      await deliver(chosen, setSent);
    } catch (error) {
      later();
      // That it waits is said here.
      if (error instanceof ApiError && error.status === 0) return;
      throw error;
    } finally {
      setSent(undefined);
    }
    toast(t(chosen.target === "journal" ? "in_journal" : "in_folder"));
    if (letters.value.some(({ kind }) => kind === "shared")) return;
    go(chosen.target === "journal" ? to("journal", [chosen.date]) : to("files", ["Inbox"]), { replace: true });
  };
  const choose = async (target: Target) => {
    const chosen: Letter = { ...letter, content: content.trim(), target, date: dayOf(new Date()), isRefused: false, problem: undefined };
    await put(chosen);
    await send(chosen);
  };
  const saveLink = async () => {
    try {
      if (!(await savePage(letter.shared?.link ?? ""))) return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 0)) throw error;
      await put({ ...letter, target: "page", isRefused: false, problem: undefined });
      return later();
    }
    keepDraft(name, "");
    await remove(letter.id);
  };
  const toChat = async (id?: string) => {
    await put({ ...letter, content: content.trim() });
    keepDraft(name, "");
    go(to("chat", id ? [id] : [], { shared: letter.id }));
  };
  const drop = async () => {
    if (!(await confirm(t("delete_title"), t("delete_text"), t("delete")))) return;
    keepDraft(name, "");
    await remove(letter.id);
  };
  const isChosen = letter.target !== undefined && !letter.isRefused;
  return (
    <section class="shared card">
      <Files letter={letter} />
      {isChosen ? (
        letter.content && <p class="shared-words" dir="auto">{letter.content}</p>
      ) : (
        <TextField label={t("words")} value={content} onInput={say} rows={Math.min(8, content.split("\n").length + 2)} />
      )}
      {letter.problem && <p role="alert">{said(letter.problem)}</p>}
      {sent !== undefined && <progress max={1} value={sent} aria-label={t("sent")} />}
      {isChosen ? (
        <>
          <p class="muted">{t("waits")}</p>
          <div class="form-actions">
            <Button label={t("delete")} icon="trash" kind="quiet" onPress={drop} />
            <Button label={t("send")} icon="send" kind="primary" onPress={() => send(letter)} />
          </div>
        </>
      ) : (
        <>
          <p class="muted">{t("kept")}</p>
          <div class="shared-places">
            {may("daily", "write") && <Button label={t("to_journal")} icon="journal" kind="primary" onPress={() => choose("journal")} />}
            {may("vault", "write") && <Button label={t("to_note")} icon="files" onPress={() => choose("note")} />}
            {letter.shared?.link && may("vault", "write") && <Button label={t("to_page")} icon="download" onPress={saveLink} />}
            {may("chat", "write") && <Button label={t("to_new")} icon="chat" onPress={() => toChat()} />}
          </div>
          {may("chat", "write") && <Recent onChoose={toChat} />}
          <div class="form-actions">
            <Button label={t("delete")} icon="trash" kind="quiet" onPress={drop} />
          </div>
        </>
      )}
    </section>
  );
}

function Recent({ onChoose }: { onChoose: (id: string) => Promise<void> }) {
  const query = { limit: RECENT, folded: true };
  const sessions = useResource(async (signal) => (await api.get("/api/chat", { query, signal })).sessions, "recent").value ?? [];
  if (sessions.length === 0) return null;
  return (
    <>
      <h2>{t("to_recent")}</h2>
      <div class="shared-places">
        {sessions.map(({ id, title }) => (
          <Button key={id} label={title ?? t("untitled")} icon="chat" kind="quiet" onPress={() => onChoose(id)} />
        ))}
      </div>
    </>
  );
}

/** The files with their sizes; pictures as pictures. */
function Files({ letter }: { letter: Letter }) {
  const files = letter.shared?.files ?? [];
  const [pictures, setPictures] = useState<Record<number, string>>({});
  useEffect(() => {
    if (!files.some(isShown)) return;
    let isOpen = true;
    let made: Record<number, string> = {};
    void filesOf<File>(letter.id).then((contents) => {
      if (!isOpen) return;
      made = Object.fromEntries(files.flatMap((file, index) => (isShown(file) && contents[index] ? [[index, URL.createObjectURL(contents[index])]] : [])));
      setPictures(made);
    });
    return () => {
      isOpen = false;
      for (const address of Object.values(made)) URL.revokeObjectURL(address);
    };
  }, [letter.id]);
  if (files.length === 0) return null;
  return (
    <ul class="shared-files">
      {files.map((file, index) => (
        <li key={index}>
          {pictures[index] ? <img src={pictures[index]} alt="" loading="lazy" /> : <Icon name="attach" />}
          <span>
            <bdi>{file.name}</bdi> <span class="muted">{bytes(file.size)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

const isShown = ({ type, size }: SharedFile) => /^image\/(jpeg|png|gif|webp|avif)$/.test(type) && size <= LARGEST_SHOWN;
