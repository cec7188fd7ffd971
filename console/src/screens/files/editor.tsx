/** Editing a text: what somebody else wrote meanwhile is never replaced unseen. */
import { useState } from "preact/hooks";
import { api, ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Notice } from "~/components/layout";
import { keepDraft, useDraft } from "~/state/drafts";
import { attempt, toast } from "~/state/toasts";
import { nameOf, type TextFile } from "./models";
import { t } from "./texts";

export function Editor({ file, onDone }: { file: TextFile; onDone: (file?: TextFile) => void }) {
  const draft = `file/${file.path}`;
  const [text, setText, etag] = useDraft(draft, file.content, file.etag);
  const [other, setOther] = useState<TextFile>();
  const isChanged = text !== file.content;
  const close = (now?: TextFile) => {
    keepDraft(draft, "");
    onDone(now);
  };
  const { path } = file;
  const read = () => api.get("/api/read", { query: { path } });
  const write = (etag: string) =>
    attempt(async () => {
      try {
        await api.put("/api/write", { body: { path, content: text }, headers: { "if-match": etag } });
      } catch (error) {
        if (!(error instanceof ApiError && error.key === "changed_meanwhile")) throw error;
        setOther(await read());
        return;
      }
      toast(t("saved", { name: nameOf(path) }));
      close(await read());
    });
  const leave = async () => {
    if (!isChanged || (await confirm(t("leave_title"), t("leave_text"), t("leave")))) close(other);
  };
  return (
    <Form onSubmit={() => write(other?.etag ?? etag)}>
      {other && (
        <Notice kind="warning">
          <p role="alert">{t("conflict")}</p>
        </Notice>
      )}
      <div class={other ? "files-both" : undefined}>
        <TextField label={other ? t("yours") : t("text")} value={text} onInput={setText} rows={22} monospace autofocus />
        {other && (
          <section aria-label={t("theirs")}>
            <h2>{t("theirs")}</h2>
            <pre class="text-block files-text" tabIndex={0}>{other.content}</pre>
          </section>
        )}
      </div>
      <div class="buttons">
        {other ? (
          <Button label={t("take_theirs")} onPress={() => close(other)} />
        ) : (
          <Button label={t("cancel")} onPress={leave} />
        )}
        <Button label={other ? t("keep_yours") : t("save")} kind="primary" submit disabled={!isChanged} />
      </div>
    </Form>
  );
}
