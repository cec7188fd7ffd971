/** Cards of a turn: files that it changed, hosts that it was refused, what waits for a decision, and what it used. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Icon, type IconName } from "~/components/icons";
import { Filled } from "~/screens/inbox/card";
import { give, shown } from "~/screens/inbox/kinds";
import { answer, inbox, type Item } from "~/state/inbox";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { dollars, number } from "~/text/messages";
import { t } from "./cards_texts";
import { ChangesDialog, FileDifference, FileView, HeldView, Lines, named, takeBack } from "./changes";
import type { Conversation } from "./conversation";
import type { Message } from "./events";
import { endingAt, type Turn, type Turns } from "./turns";

type Changes = Schema<"TurnChanges">;
type Host = Schema<"RefusedHost">;

interface Props {
  conversation: Conversation;
  turns: Turns;
  messages: readonly Message[];
  place: number;
}

/** The cards of the turn that ends with the message at `place`, if one does. */
export function Cards({ conversation, turns, messages, place }: Props) {
  const turn = endingAt(turns, messages, place);
  if (!turn || !conversation.id) return null;
  const isNewest = place === messages.length - 1;
  const isLast = isNewest && !conversation.isRunning.value && may("chat", "write");
  return <TurnCards session={conversation.id} turn={turn} turns={turns} isNewest={isNewest} onSend={isLast ? (text) => conversation.send(text) : undefined} />;
}

interface TurnProps {
  session: string;
  turn: Turn;
  turns: Turns;
  isNewest: boolean;
  /** Sends a message behind the newest turn. */
  onSend?: (text: string) => unknown;
}

function TurnCards({ session, turn, turns, isNewest, onSend }: TurnProps) {
  const section = useRef<HTMLElement>(null);
  useKeptFocus(section);
  const { reload } = turns;
  const next = turns.list[turns.list.indexOf(turn) + 1];
  const items = (inbox.value?.items ?? []).filter((item) => item.session_id === session);
  const own = items.filter((item) => isOf(item, turn, next, turns.list[0] === turn));
  const hosts = turn.refused.map((host) => [host, items.find((item) => isAbout(item, host))] as const);
  const withHost = new Set(hosts.map(([, item]) => item));
  const others = own.filter((item) => item.kind !== "changes" && item.kind !== "question" && !withHost.has(item));
  const sets = turn.changes.filter(({ kind }) => kind === "run" || kind === "answer");
  const tokens = turn.input_tokens + turn.output_tokens;
  if (!sets.length && !hosts.length && !others.length && !tokens) return null;
  return (
    <section class="cards" aria-label={t("cards")} ref={section} tabIndex={-1}>
      {sets.map((set) => (
        <ChangeCards key={set.run} session={session} set={set} isNewest={isNewest} undo={turn.changes.findLast(({ kind, of }) => kind === "undo" && of === set.run)} reload={reload} />
      ))}
      {hosts.map(([host, item]) => (
        <HostCard key={`${host.workspace}/${host.host}`} host={host} item={item} reload={reload} onSend={onSend} />
      ))}
      {others.map((item) => (
        <ItemCard key={item.id} item={item} />
      ))}
      {tokens > 0 && (
        <p class="used" title={t("tokens_apart", { input: number(turn.input_tokens), output: number(turn.output_tokens) })}>
          {[t("tokens", { n: tokens }), turn.dollars > 0 && dollars(turn.dollars), seconds(turn.duration_ms)].filter(Boolean).join(" · ")}
        </p>
      )}
    </section>
  );
}

/** The time in which something belongs to a turn: until the next one begins; what is older than all that are known belongs to the first. */
function isOf(item: Item, turn: Turn, next: Turn | undefined, isFirst: boolean): boolean {
  const since = item.since ?? "";
  return (isFirst || since >= turn.began_at) && (!next || since < next.began_at);
}

function isAbout({ kind, details }: Item, { host, workspace }: Host): boolean {
  return kind === "host" && details.host === host && (details.workspace ?? null) === workspace;
}

function seconds(milliseconds: number): string {
  return number(milliseconds / 1000, { style: "unit", unit: "second", maximumFractionDigits: milliseconds < 10_000 ? 1 : 0 });
}

/** Keep the focus among the cards when the button that had it is gone. */
function useKeptFocus(section: { current: HTMLElement | null }): void {
  const had = useRef(false);
  useLayoutEffect(() => {
    const region = section.current;
    if (had.current && document.activeElement === document.body) region?.focus({ preventScroll: true });
    had.current = region?.contains(document.activeElement) ?? false;
    const note = () => {
      had.current = region?.contains(document.activeElement) ?? false;
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  });
}

interface CardProps {
  icon: IconName;
  kind?: "plain" | "warning";
  title: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

function Card({ icon, kind = "plain", title, actions, children }: CardProps) {
  return (
    <div class={`card ${kind}`}>
      <div class="card-line">
        <Icon name={icon} />
        <p class="card-title">{title}</p>
        {actions && <div class="card-actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

interface ChangeProps {
  session: string;
  set: Changes;
  isNewest: boolean;
  /** The newest undo of it that holds. */
  undo: Changes | undefined;
  reload: () => Promise<void>;
}

/** Most lines of a difference that is shown by itself. */
const SHORT = 12;

function isShort({ added, removed }: Changes): boolean {
  // Without any there is no text to compare.
  return added + removed > 0 && added + removed <= SHORT;
}

function ChangeCards({ session, set, undo, isNewest, reload }: ChangeProps) {
  return (
    <>
      {set.total > 0 && <ChangeCard {...{ session, set, undo, isNewest, reload }} />}
      {set.held.length > 0 && (
        <Card icon="warning" kind="warning" title={t("held", { n: set.waiting })}>
          <HeldView session={session} run={set.run} held={set.held} isCut={set.waiting > set.held.length} hash={set.hash} reload={reload} />
        </Card>
      )}
    </>
  );
}

function ChangeCard({ session, set, undo, isNewest, reload }: ChangeProps) {
  const only = set.total === 1 ? set.files[0] : undefined;
  const isUndone = set.undone === set.total;
  // What is short is read without a tap, where it has just been written.
  const [isOpen, setOpen] = useState(isNewest && only !== undefined && !isUndone && isShort(set));
  const [isWhole, setWhole] = useState(false);
  const isOwner = may("*", "admin");
  const take = async (run: number, paths?: string[]) => {
    await takeBack(session, run, paths);
    await reload();
  };
  // In one place: the button that was pressed keeps the focus, and takes back what it has done.
  const other = isUndone ? undo && isOwner && { label: t("redo"), run: undo.run } : (set.kind === "run" || isOwner) && { label: t("undo"), run: set.run };
  const paths = set.files.map(({ path }) => path);
  const title = isUndone ? (
    t("undone", { n: set.total, names: named(paths, set.total) })
  ) : (
    <>
      {only ? <bdi>{only.path}</bdi> : t("files", { n: set.total })} <Lines {...set} />
      {set.kind === "answer" && ` ${t("applied")}`}
    </>
  );
  return (
    <Card
      icon="files"
      title={title}
      actions={
        <>
          <Button label={t(only ? "difference" : "show")} pressed={isOpen} onPress={() => setOpen(!isOpen)} />
          {other && may("chat", "write") && <Button label={other.label} icon={isUndone ? "refresh" : "undo"} onPress={() => take(other.run)} />}
        </>
      }
    >
      {isOpen && only && <FileDifference session={session} run={set.run} path={only.path} />}
      {isOpen && !only && (
        <ul class="rows">
          {set.files.map((file) => (
            <FileView key={file.path} session={session} run={set.run} file={file} onUndo={file.undone || !other ? undefined : () => take(set.run, [file.path])} />
          ))}
        </ul>
      )}
      {isOpen && set.total > set.files.length && <Button label={t("all_files", { n: set.total })} onPress={() => setWhole(true)} />}
      {isWhole && <ChangesDialog session={session} onClose={() => setWhole(false)} />}
    </Card>
  );
}

interface HostProps extends Pick<TurnProps, "onSend"> {
  host: Host;
  item: Item | undefined;
  reload: () => Promise<void>;
}

function HostCard({ host, item, reload, onSend }: HostProps) {
  const { state, workspace } = host;
  const give = async (word: string) => {
    if (item) await answer(item, word);
    else await api.put("/api/network/decisions", { body: { host: host.host, choice: word, workspace: workspace ?? "" } });
    await reload();
  };
  const forget = async () => {
    await api.delete("/api/network/decisions", { query: { host: host.host, workspace: workspace ?? "" } });
    await reload();
  };
  const isOpen = state === "waits" || state === "refused";
  const words = !isOpen ? [] : item?.may_answer ? (["once", "always", "never"] as const) : (["always", "never"] as const);
  return (
    <Card
      icon="link"
      kind={isOpen ? "warning" : "plain"}
      title={t(`host_${isOpen ? "refused" : state}`, { host: `\u2068${host.host}\u2069`, workspace: workspace ?? "" })}
      actions={
        may("*", "admin") && (
          <>
            {words.map((word) => (
              <Button key={word} label={t(word)} onPress={() => give(word)} />
            ))}
            {(state === "always" || state === "never") && <Button label={t("take_back")} icon="undo" onPress={forget} />}
            {/* The agent has ended its turn: nobody tells it but the person. */}
            {onSend && (state === "always" || state === "once") && <Button label={t("again")} icon="refresh" onPress={() => onSend(t("again_text", { host: host.host }))} />}
          </>
        )
      }
    />
  );
}

function ItemCard({ item }: { item: Item }) {
  const [isOpen, setOpen] = useState(false);
  const known = shown(item);
  if (!known) return null;
  const { card, parts, template, label } = known;
  return (
    <Card
      icon={card.icon}
      kind="warning"
      title={<Filled text={template} parts={parts} />}
      actions={
        card.isRead ? (
          <LinkButton label={t("show")} href={to("inbox", [item.id])} />
        ) : (
          <>
            {card.Body && <Button label={t("show")} pressed={isOpen} onPress={() => setOpen(!isOpen)} />}
            {item.may_answer && item.answers.map((word) => <Button key={word} label={label(word)} onPress={() => give(known, word)} />)}
          </>
        )
      }
    >
      {isOpen && card.Body && <card.Body item={item} values={{}} onChange={() => undefined} />}
    </Card>
  );
}
