/** The line below a message: its time, and what can be done with it. */
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Ago } from "~/components/layout";
import type { Conversation } from "./conversation";
import type { Message } from "./events";
import { t as shared } from "./texts";
import { t } from "./log_texts";
import { Compare, type Point, Switch } from "./versions";

interface Props {
  conversation: Conversation;
  message: Message;
  /** The message that it answers, or that it is. */
  asked?: Message;
  /** The versions of that. */
  point?: Point;
  isLast: boolean;
  onCopy: () => unknown;
  onEdit: () => void;
}

export function Actions({ conversation, message, asked, point, isLast, onCopy, onEdit }: Props) {
  const [isComparing, setComparing] = useState(false);
  const isAnswer = message.role === "assistant";
  const isFree = !conversation.isRunning.value && asked?.id !== undefined;
  const hasRetry = message.parts.some((part) => part.kind === "note" && part.canRetry);
  return (
    <footer class="message-actions">
      {message.time && <Ago time={message.time} />}
      {point && asked?.id && point.isAgain === isAnswer && <Switch point={point} message={asked.id} />}
      <Button label={shared("copy")} icon="copy" iconOnly kind="quiet" onPress={onCopy} />
      {!isAnswer && isFree && <Button label={t("edit")} icon="edit" iconOnly kind="quiet" onPress={onEdit} />}
      {isAnswer && isLast && isFree && !hasRetry && (
        <Button label={t("another")} icon="refresh" iconOnly kind="quiet" onPress={() => asked && conversation.answerAgain(asked)} />
      )}
      {isAnswer && point && asked?.id && (
        <>
          <Button label={t("compare")} icon="list" iconOnly kind="quiet" onPress={() => setComparing(true)} />
          {isComparing && <Compare point={point} message={asked.id} onClose={() => setComparing(false)} />}
        </>
      )}
    </footer>
  );
}
