/** A message of the person in a field, to be sent once more with other words. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { draftOf, keepDraft } from "~/state/drafts";
import { attempt } from "~/state/toasts";
import type { Conversation } from "./conversation";
import { type Message, textOf } from "./events";
import { t } from "./log_texts";

/** The name of the draft that stands in the place of a message. */
export const editName = (conversation: Conversation, message: Message) => `chat/${conversation.id}/${message.id}`;

export function Editing({ conversation, message, onClose }: { conversation: Conversation; message: Message; onClose: () => void }) {
  const name = editName(conversation, message);
  const [text, setText] = useState(() => draftOf(name) || textOf(message));
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const send = () => conversation.branch(message, text.trim(), () => keepDraft(name, ""));
  const close = () => {
    keepDraft(name, "");
    onClose();
  };
  return (
    <form
      class="editing"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(send);
      }}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <textarea
        ref={field}
        value={text}
        rows={2}
        aria-label={t("edited")}
        onInput={(event) => {
          setText(event.currentTarget.value);
          keepDraft(name, event.currentTarget.value);
        }}
      />
      <p class="muted">{t("edit_text")}</p>
      <div class="buttons">
        <Button label={t("cancel")} onPress={close} />
        <Button label={t("send")} kind="primary" submit disabled={!text.trim() || conversation.isRunning.value} />
      </div>
    </form>
  );
}
