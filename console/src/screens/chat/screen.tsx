import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Icon } from "~/components/icons";
import { Failure, Loading, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { moveDraft, useDraft } from "~/state/drafts";
import { begun as sent, waitingIn } from "~/state/letters";
import { useResource } from "~/state/resource";
import { go, place, to } from "~/state/router";
import { type Beginning, Conversation } from "./conversation";
import { ChangesDialog } from "./changes";
import { Composer } from "./composer";
import { Find } from "./find";
import { ConversationHeader } from "./header";
import { Log, ToEnd } from "./log";
import { t as logged } from "./log_texts";
import { OfferedWorkspaces } from "./offered";
import { OptionsDialog } from "./options";
import { PermissionsDialog } from "./permissions";
import { PromptDialog } from "./prompt";
import { t } from "./texts";
import { Waiting } from "./waiting";

/** A conversation that began in this page keeps its state while its address gets its id. */
let begun: Conversation | undefined;

const draftName = (id: string | undefined) => `chat/${id ?? "new"}`;

export default function Chat({ rest }: ScreenProps) {
  const id = rest[0];
  const conversation = useMemo(() => {
    if (begun && begun.id === id) return begun;
    begun?.close();
    let name = draftName(id);
    begun = new Conversation(id, (given, isBranch) => {
      // What was typed before its first answer goes with it.
      moveDraft(name, (name = draftName(given)));
      go(to("chat", [given]), { replace: !isBranch });
    });
    // A message that is looked for may stand further up.
    void begun.open(place.value.query.has("message"));
    return begun;
  }, [id]);
  return <Opened key={conversation} conversation={conversation} id={id} />;
}

function Opened({ conversation, id }: { conversation: Conversation; id: string | undefined }) {
  const name = draftName(id);
  const [draft, setDraft] = useDraft(name);
  const [beginning, setBeginning] = useState<Beginning>({});
  const [dialog, setDialog] = useState<"options" | "changes" | "prompt" | "permissions">();
  const [isFinding, setFinding] = useState(() => place.value.query.has("find"));
  const foot = useRef<HTMLDivElement>(null);
  const workspaces = useResource(async (signal) => (await api.get("/api/workspaces", { signal })).workspaces, "workspaces", ["workspaces"]).value ?? [];
  const session = conversation.session.value;
  const isNew = !conversation.id;
  // Where what waited here has become a conversation, one goes on in it.
  const waits = waitingIn(conversation.id);
  const seen = useRef<ReadonlySet<string>>(new Set());
  if (waits.length) seen.current = new Set(waits.map(({ id }) => id));
  useEffect(() => {
    if (!isNew || conversation.isRunning.value || !sent.value || !seen.current.has(sent.value.id)) return;
    // What was typed since goes with it.
    moveDraft(name, draftName(sent.value.session));
    go(to("chat", [sent.value.session]), { replace: true });
  }, [sent.value]);
  useLayoutEffect(() => {
    // On a phone it would open the keyboard.
    if (matchMedia("(hover: hover) and (pointer: fine)").matches) foot.current?.querySelector("textarea")?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || isFinding || isNew) return;
      event.preventDefault();
      setFinding(true);
    };
    addEventListener("keydown", find);
    return () => removeEventListener("keydown", find);
  }, [isFinding, isNew]);
  const actions = (
    <>
      {!isNew && <Button label={logged("find")} icon="search" iconOnly kind="quiet" pressed={isFinding} onPress={() => setFinding(!isFinding)} />}
      {!isNew && <Button label={t("changes")} icon="undo" iconOnly kind="quiet" onPress={() => setDialog("changes")} />}
      <Button label={t("options")} icon="settings" iconOnly kind="quiet" onPress={() => setDialog("options")} />
      {!isNew && <LinkButton label={t("new")} icon="plus" iconOnly kind="quiet" href={to("chat")} />}
      <ConversationHeader conversation={conversation} workspaces={workspaces} beginning={beginning} onBeginning={setBeginning} />
      {isFinding && !conversation.isLoading.value && <Find conversation={conversation} onClose={() => setFinding(false)} />}
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
            {session?.continuedFrom && !session.metadata?.branch && <BranchedFrom id={session.continuedFrom} />}
            {(!isNew || waits.length === 0 || conversation.isRunning.value) && <Log conversation={conversation} />}
          </>
        )}
        <Waiting letters={waits} onTakeBack={draft ? undefined : setDraft} />
      </Page>
      <div class="chat-foot" ref={foot}>
        <ToEnd />
        {isNew && !conversation.isRunning.value && <OfferedWorkspaces workspaces={workspaces} beginning={beginning} onBeginning={setBeginning} />}
        <Composer
          isRunning={conversation.isRunning.value}
          draft={draft}
          name={name}
          place={{
            isBegun: !isNew,
            workspace: session ? session.workspaceId : beginning.workspaceId,
            agent: session ? session.agentPath : beginning.agentPath,
          }}
          onDraft={setDraft}
          onSend={(text, files, onKept) => conversation.send(text, files, beginning, onKept)}
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

/** The way to the conversation that this one goes on from without a copy of it; nothing of one that is gone. */
function BranchedFrom({ id }: { id: string }) {
  const from = useResource((signal) => api.get("/api/chat/{session}", { params: { session: id }, query: { limit: 1 }, signal }), id);
  if (!from.value) return null;
  return (
    <p class="branched muted">
      <Icon name="branch" />
      <span>
        {t("branched_from")} <a href={to("chat", [id])}>{from.value.title ?? t("untitled")}</a>
      </span>
    </p>
  );
}
