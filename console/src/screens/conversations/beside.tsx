/** Conversations beside the chat, where a screen is wide enough for both. */
import "~/main";
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { TextField } from "~/components/field";
import { Loaded } from "~/components/layout";
import { useDebounced } from "~/state/debounced";
import { preference } from "~/state/preferences";
import { useResource } from "~/state/resource";
import { place, to } from "~/state/router";
import { may } from "~/state/session";
import { number } from "~/text/messages";
import { titles } from "./about";
import { chooseAction, titleOf } from "./actions";
import { passageOf, placeOf, type Session, versionsOf, workspaces } from "./data";
import { useConversations } from "./listed";
import { t } from "./texts";

const shown = preference<"yes" | "no">("conversations/beside", ["yes", "no"], "yes");

export default function Beside() {
  const isShown = shown.value === "yes";
  return (
    <aside class={`beside${isShown ? "" : " hidden"}`} aria-label={titles("title")}>
      <Button
        label={t(isShown ? "hide" : "show")}
        icon="side"
        iconOnly
        kind="quiet"
        onPress={() => (shown.value = isShown ? "no" : "yes")}
      />
      {isShown && <List />}
    </aside>
  );
}

function List() {
  const [search, setSearch] = useState("");
  const settled = useDebounced(search).trim();
  const names = useResource(workspaces, "workspaces", ["workspaces"]);
  const { page, onTop, isActive, reload, more } = useConversations({ search: settled, workspace: "", archived: false });
  const name = (slug: string) => names.value?.find((each) => each.slug === slug)?.name ?? slug;
  const line = (session: Session) => (
    <Line key={session.id} session={session} isActive={isActive(session)} search={settled} changed={reload} />
  );
  return (
    <>
      {may("chat", "write") && <LinkButton label={t("new")} icon="plus" kind="quiet" href={to("chat")} />}
      <TextField label={t("search")} placeholder={t("search")} isLabelHidden type="search" value={search} onInput={setSearch} />
      <Loaded of={page}>
        {({ sessions, hasMore }) => (
          <>
            {grouped(onTop, sessions, name, settled).map(([title, members]) => (
              <section key={title} aria-label={title || titles("title")}>
                {title && (
                  <h2>
                    <bdi>{title}</bdi>
                  </h2>
                )}
                <ul>{members.map(line)}</ul>
              </section>
            ))}
            {sessions.length === 0 && <p class="muted">{t(settled ? "nothing_found" : "empty")}</p>}
            {hasMore && <Button label={t("more")} icon="down" kind="quiet" onPress={more} />}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Conversations on top, those of each workspace, and the others; what a search has found stays as it comes. */
function grouped(onTop: Session[], sessions: Session[], name: (slug: string) => string, search: string): [string, Session[]][] {
  if (search) return [["", sessions]];
  const groups = new Map<string, Session[]>();
  const others: Session[] = [];
  for (const session of sessions) {
    if (onTop.some(({ id }) => id === session.id)) continue;
    if (!session.workspaceId) others.push(session);
    else groups.set(session.workspaceId, [...(groups.get(session.workspaceId) ?? []), session]);
  }
  const named = [...groups].map(([slug, members]): [string, Session[]] => [name(slug), members]);
  const before: [string, Session[]][] = onTop.length > 0 ? [[t("pinned"), onTop], ...named] : named;
  return [...before, [before.length > 0 ? t("others") : "", others] satisfies [string, Session[]]].filter(([, members]) => members.length > 0);
}

function Line({ session, isActive, search, changed }: { session: Session; isActive: boolean; search: string; changed: () => Promise<void> }) {
  const title = titleOf(session);
  const versions = versionsOf(session);
  const isOpen = versions.includes(place.value.rest[0] ?? "");
  return (
    <li>
      <a href={placeOf(session, search)} aria-current={isOpen ? "page" : undefined} title={title}>
        <bdi>{title}</bdi>
        {versions.length > 1 && (
          <span class="badge" title={t("versions", { n: versions.length })}>
            <span aria-hidden="true">{number(versions.length)}</span>
            <span class="visually-hidden">{t("versions", { n: versions.length })}</span>
          </span>
        )}
        {isActive && <span class="spinner" role="img" aria-label={t("active")} />}
        {passageOf(session) && <small>{passageOf(session)}</small>}
      </a>
      <Button label={t("actions", { title })} icon="more" iconOnly kind="quiet" onPress={() => chooseAction(session, isActive, changed)} />
    </li>
  );
}
