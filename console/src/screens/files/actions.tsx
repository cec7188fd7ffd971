/** Actions on a file or folder: rename or move, save, look at its history, delete. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { leave } from "~/state/resource";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { titles } from "./about";
import { HistoryDialog, undo } from "./history";
import { folderOf, nameOf } from "./models";
import { t } from "./texts";
import { save } from "./transfers";

interface Props {
  path: string;
  isFolder: boolean;
  size: number | null;
  onClose: () => void;
  /** Callback with the new path; null after a deletion. */
  onDone: (path: string | null) => void;
}

export function ActionsDialog({ path, isFolder, size, onClose, onDone }: Props) {
  const [target, setTarget] = useState(path);
  const [isHistory, setHistory] = useState(false);
  if (isHistory) return <HistoryDialog path={path} onClose={onClose} />;
  const move = () =>
    attempt(() =>
      leave(async () => {
        const { change } = await api.post("/api/files/move", { body: { path, to: target.trim() } });
        toast(t("moved", { name: nameOf(target) }), { action: undoAction(change) });
        onDone(target.trim());
      }),
    );
  const remove = () =>
    leave(async () => {
      await removeFile(path);
      onDone(null);
    });
  return (
    <Dialog
      title={nameOf(path)}
      onClose={onClose}
      actions={
        <>
          <Button label={t("history")} icon="undo" onPress={() => setHistory(true)} />
          {!isFolder && <Button label={t("download")} icon="download" onPress={() => (onClose(), save(path, size))} />}
          {may("vault", "write") && <Button label={t("delete")} icon="trash" kind="danger" onPress={remove} />}
        </>
      }
    >
      {may("vault", "write") ? (
        <Form onSubmit={move}>
          <TextField label={t("name_and_place")} hint={t("name_hint", { folder: folderOf(path) || titles("title") })} value={target} onInput={setTarget} required />
          <div class="buttons">{target.trim() !== path && <Button label={t("move")} kind="primary" submit />}</div>
        </Form>
      ) : (
        <p class="muted">
          <bdi>{path}</bdi>
        </p>
      )}
    </Dialog>
  );
}

/** Delete at once: it is kept, and the note takes it back. */
async function removeFile(path: string): Promise<void> {
  const { change } = await api.delete("/api/files", { query: { path } });
  toast(t("deleted", { name: nameOf(path) }), { action: undoAction(change) });
}

function undoAction(change: number | null): { label: string; run: () => void } | undefined {
  return change === null ? undefined : { label: t("undo"), run: () => void attempt(() => undo(change)) };
}
