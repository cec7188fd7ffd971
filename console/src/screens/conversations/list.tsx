/** All conversations: found by words, of a workspace, put away or not. */
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { TextField } from "~/components/field";
import { Chips, Empty, Loaded, Page, Section } from "~/components/layout";
import { useDrop } from "~/components/drop";
import { useDebounced } from "~/state/debounced";
import { preference } from "~/state/preferences";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { titles } from "./about";
import { type Session, type Shown, workspaces } from "./data";
import { dropped } from "./dropped";
import { Line } from "./line";
import { useConversations } from "./listed";
import { t } from "./texts";

/** Filter by workspace and archive, kept until it is chosen anew. */
const workspace = preference<string>("conversations/workspace", undefined, "");
const archived = preference<"no" | "yes">("conversations/archived", ["no", "yes"], "no");

export function List() {
  const [search, setSearch] = useState("");
  const settled = useDebounced(search);
  const known = useResource(workspaces, "workspaces", ["workspaces"]);
  // One that is gone hides nothing.
  const isThere = !known.value || known.value.some(({ slug }) => slug === workspace.value);
  const shown: Shown = { search: settled, workspace: isThere ? workspace.value : "", archived: archived.value === "yes" };
  const { page, onTop, isActive, reload, more } = useConversations(shown);
  const names = new Map((known.value ?? []).map(({ slug, name }) => [slug, name]));
  const choices = [
    { value: "", label: t("all") },
    ...(known.value ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  const above = search ? [] : onTop;
  const { isOver, heard } = useDrop(([file]) => {
    dropped.value = file;
    go(to("conversations", ["import"]));
  }, may("imports", "admin"));
  const line = (session: Session) => (
    <Line
      key={session.id}
      session={session}
      workspace={session.workspaceId ? (names.get(session.workspaceId) ?? session.workspaceId) : undefined}
      isActive={isActive(session)}
      search={settled}
      onChange={reload}
    />
  );
  return (
    <div class={isOver ? "dropping over" : "dropping"} {...heard}>
      <Page
        title={titles("title")}
        actions={may("chat", "write") && <LinkButton label={t("new")} icon="plus" kind="primary" href={to("chat")} />}
      >
        <div class="search-row">
          <TextField
            label={t("search")}
            placeholder={t("search")}
            isLabelHidden
            type="search"
            value={search}
            onInput={setSearch}
          />
          <LinkButton label={t("claude_code")} icon="computer" iconOnly kind="quiet" href={to("conversations", ["claude-code"])} />
          <LinkButton label={t("elsewhere")} icon="upload" iconOnly kind="quiet" href={to("conversations", ["import"])} />
        </div>
        <div class="search-row apart">
          {choices.length > 1 && (
            <Chips label={t("which")} value={shown.workspace} options={choices} onChange={(value) => (workspace.value = value)} />
          )}
          <Chips
            label={t("archived")}
            value={archived.value}
            options={[{ value: "yes", label: t("archived") }]}
            onChange={() => (archived.value = shown.archived ? "no" : "yes")}
          />
        </div>
        <Loaded of={page}>
          {({ sessions, hasMore }) =>
            sessions.length === 0 ? (
              <Nothing shown={shown} onClear={() => setSearch("")} />
            ) : (
              <>
                {above.length > 0 && (
                  <Section title={t("pinned")}>
                    <ul class="rows" aria-label={t("pinned")}>
                      {above.map(line)}
                    </ul>
                  </Section>
                )}
                <ul class="rows" aria-label={titles("title")}>
                  {sessions.filter(({ id }) => !above.some((each) => each.id === id)).map(line)}
                </ul>
                {hasMore && (
                  <div class="center">
                    <Button label={t("more")} icon="down" onPress={more} />
                  </div>
                )}
              </>
            )
          }
        </Loaded>
      </Page>
    </div>
  );
}

function Nothing({ shown, onClear }: { shown: Shown; onClear: () => void }) {
  if (shown.search.trim()) {
    return (
      <Empty icon="search" title={t("nothing_found")} text={t("nothing_found_text")}>
        <Button label={t("clear")} onPress={onClear} />
      </Empty>
    );
  }
  if (shown.archived) return <Empty icon="archive" title={t("none_archived")} text={t("none_archived_text")} />;
  return (
    <Empty icon="chat" title={t("empty")} text={t("empty_text")}>
      {may("chat", "write") && <LinkButton label={t("begin")} icon="chat" kind="primary" href={to("chat")} />}
    </Empty>
  );
}
