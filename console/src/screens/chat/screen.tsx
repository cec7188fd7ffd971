import { Fragment } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Icon } from "~/components/icons";
import { Empty, Failure, Loading, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { draftOf, keepDraft } from "~/state/drafts";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { type Beginning, Conversation } from "./conversation";
import { Asking } from "./asking";
import { Cards } from "./cards";
import { ChangesDialog } from "./changes";
import { Composer } from "./composer";
import { type Message, textOf } from "./events";
import { useFoundPlace } from "./found_place";
import { ConversationHeader } from "./header";
import { MessageView } from "./message";
import { OptionsDialog } from "./options";
import { PermissionsDialog } from "./permissions";
import { PromptDialog } from "./prompt";
import { t } from "./texts";
import { useTurns } from "./turns";

const AT_FIRST = 40;

/** A conversation that began in this page keeps its state while its address gets its id. */
let begun: Conversation | undefined;

export default function Chat({ rest }: ScreenProps) {
  const id = rest[0];
  const conversation = useMemo(() => {
    if (begun && begun.id === id) return begun;
    begun?.close();
    begun = new Conversation(id, (given) => go(to("chat", [given]), { replace: true }));
    void begun.open();
    return begun;
  }, [id]);
  return <Opened key={conversation.id ?? "new"} conversation={conversation} />;
}

function Opened({ conversation }: { conversation: Conversation }) {
  const name = `chat/${conversation.id ?? "new"}`;
  const [branched] = useState(() => (conversation.id ? undefined : keptBranch()));
  const [draft, setText] = useState(() => branched?.draft ?? draftOf(name));
  const [beginning, setBeginning] = useState<Beginning>(branched?.beginning ?? {});
  const [dialog, setDialog] = useState<"options" | "changes" | "prompt" | "permissions">();
  const session = conversation.session.value;
  const isNew = !conversation.id;
  // What a branch begins with is not the draft of a new conversation: it stands where it came from.
  const setDraft = (text: string) => {
    if (beginning.continuedFrom) keepBranch({ draft: text, beginning });
    else keepDraft(name, text);
    setText(text);
  };
  const branch = useCallback((message: Message) => {
    keepBranch({ draft: textOf(message), beginning: { continuedFrom: conversation.id, continuedBefore: message.id } });
    go(to("chat"));
  }, []);
  const dropBranch = () => {
    keepBranch({ draft: "", beginning: {} });
    setBeginning({});
    setText(draftOf(name));
  };
  const actions = (
    <>
      {!isNew && <Button label={t("changes")} icon="undo" iconOnly kind="quiet" onPress={() => setDialog("changes")} />}
      <Button label={t("options")} icon="settings" iconOnly kind="quiet" onPress={() => setDialog("options")} />
      {!isNew && <LinkButton label={t("new")} icon="plus" iconOnly kind="quiet" href={to("chat")} />}
      <ConversationHeader conversation={conversation} beginning={beginning} onBeginning={setBeginning} />
    </>
  );
  return (
    <div class="chat">
      <Page title={session?.title ?? t("new")} actions={actions}>
        {conversation.isLoading.value ? (
          <Loading />
        ) : conversation.error.value ? (
          <Failure error={conversation.error.value} again={() => conversation.open()} />
        ) : (
          <>
            {session?.continuedFrom && <BranchedFrom id={session.continuedFrom} />}
            <Log conversation={conversation} onBranch={branch} />
          </>
        )}
      </Page>
      <div class="chat-foot">
        {isNew && beginning.continuedFrom && <BranchedFrom id={beginning.continuedFrom} onDrop={dropBranch} />}
        <Composer
          isRunning={conversation.isRunning.value}
          draft={draft}
          place={{
            isBegun: !isNew,
            workspace: session ? session.workspaceId : beginning.workspaceId,
            agent: session ? session.agentPath : beginning.agentPath,
          }}
          onDraft={setDraft}
          onSend={(text, files) => conversation.send(text, files, beginning)}
          onStop={() => conversation.stop()}
        />
      </div>
      {dialog === "options" && (
        <OptionsDialog conversation={conversation} beginning={beginning} onBeginning={setBeginning} onPrompt={() => setDialog("prompt")} onPermissions={() => setDialog("permissions")} onClose={() => setDialog(undefined)} />
      )}
      {dialog === "changes" && conversation.id && <ChangesDialog session={conversation.id} onClose={() => setDialog(undefined)} />}
      {dialog === "permissions" && conversation.session.value && (
        <PermissionsDialog session={conversation.session.value} onClose={() => setDialog(undefined)} />
      )}
      {dialog === "prompt" && (
        <PromptDialog session={conversation.id} beginning={beginning} onClose={() => setDialog(undefined)} />
      )}
    </div>
  );
}

/** The way back to the conversation that this one branched off, and with `onDrop` the way out of a branch that is not sent; else nothing of one that is gone. */
function BranchedFrom({ id, onDrop }: { id: string; onDrop?: () => void }) {
  const from = useResource((signal) => api.get("/api/chat/{session}", { params: { session: id }, query: { limit: 1 }, signal }), id);
  if (!from.value && !onDrop) return null;
  return (
    <p class="branched muted">
      <Icon name="branch" />
      <span>
        {t("branched_from")} <a href={to("chat", [id])}>{from.value?.title ?? t("untitled")}</a>
        {onDrop && <>. {t("branching")}</>}
      </span>
      {onDrop && <Button label={t("drop_branch")} icon="close" iconOnly kind="quiet" onPress={onDrop} />}
    </p>
  );
}

interface Branch {
  draft: string;
  beginning: Beginning;
}

const BRANCH = "chat/branch";

/** Return the draft in place of an earlier message, until it is sent or dropped. */
function keptBranch(): Branch | undefined {
  try {
    return (JSON.parse(draftOf(BRANCH) || "null") as Branch | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepBranch(branch: Branch): void {
  keepDraft(BRANCH, branch.draft && JSON.stringify(branch));
}

function Log({ conversation, onBranch }: { conversation: Conversation; onBranch: (message: Message) => void }) {
  const [shown, setShown] = useState(AT_FIRST);
  const isAtEnd = useRef(true);
  const messages = conversation.messages.value;
  const live = conversation.live.value;
  const turns = useTurns(conversation);
  const toFound = useFoundPlace(conversation);

  useEffect(() => {
    const note = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < 120;
    };
    addEventListener("scroll", note, { passive: true });
    return () => removeEventListener("scroll", note);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current) scrollTo({ top: document.documentElement.scrollHeight });
  }, [messages.length, live, conversation.question.value, conversation.permission.value, turns]);

  if (messages.length === 0 && !live) return <Empty icon="chat" title={t("empty")} text={t("empty_text")} />;
  const from = Math.max(0, messages.length - Math.max(shown, toFound));
  const earlier = async () => {
    if (from <= 100) await conversation.earlier();
    setShown(shown + 100);
  };
  return (
    <div class="log" role="log" aria-live="polite" aria-busy={conversation.isRunning.value}>
      {(from > 0 || conversation.hasEarlier.value) && <Button label={t("earlier")} kind="quiet" onPress={earlier} />}
      {/* In one list: an answer that has ended keeps its elements, and is not drawn once more. */}
      {[...messages.slice(from), ...(live ? [live] : [])].map((message, index) => (
        <Fragment key={message.key}>
          <MessageView
            message={message}
            isLive={message === live}
            onBranch={onBranch}
            onRetry={from + index === messages.length - 1 ? () => conversation.again() : undefined}
          />
          {message !== live && <Cards conversation={conversation} turns={turns} messages={messages} place={from + index} />}
        </Fragment>
      ))}
      {conversation.isRunning.value && !live?.parts.length && (
        <p class="working">
          <span class="spinner" aria-hidden="true" />
          <span>{t("works")}</span>
        </p>
      )}
      <Asking conversation={conversation} />
    </div>
  );
}
