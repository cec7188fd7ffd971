/** Conversations with Claude Code on this computer: the newest, those that it deletes soon, and going on with one here. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { TextField } from "~/components/field";
import { Ago, Badge, Empty, Loaded, Notice, Page, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

interface Found {
  sessionId: string;
  title: string | null;
  firstMessage: string | null;
  messageCount: number;
  lastTimestamp: string;
  projectPath: string | null;
  projectDisplayName: string | null;
}

interface Ending {
  cleanupPeriodDays: number | null;
  sessions: (Found & { endsAt: string })[];
}

interface Adoption {
  alreadyAdopted: boolean;
  parachuteSessionId: string;
  message: string;
}

const recent = async (signal: AbortSignal) =>
  (await api.get<{ sessions: Found[] }>("/api/claude-code/recent", { signal })).sessions;

export function ClaudeCode() {
  const found = useResource(recent, "recent", ["sessions"]);
  const ending = useResource((signal) => api.get<Ending>("/api/claude-code/expiring", { signal }), "ending", ["sessions"]);
  const [words, setWords] = useState("");
  const wanted = words.trim().toLocaleLowerCase();
  const fits = (each: Found) =>
    [each.title, each.firstMessage, each.projectPath].some((text) => text?.toLocaleLowerCase().includes(wanted));
  const soon = ending.value?.sessions ?? [];
  return (
    <Page title={t("claude_code")} back={to("conversations")}>
      <p class="muted">{t("claude_code_text")}</p>
      {soon.length > 0 && <Soon ending={soon} days={ending.value?.cleanupPeriodDays ?? 30} onKept={ending.reload} />}
      <Loaded of={found}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty icon="chat" title={t("no_claude_code")} text={t("no_claude_code_text")} />
          ) : (
            <Section title={t("recent")}>
              <TextField label={t("filter")} placeholder={t("filter")} isLabelHidden type="search" value={words} onInput={setWords} />
              <ul class="rows" aria-label={t("recent")}>
                {sessions.filter(fits).map((each) => (
                  <Talk key={each.sessionId} found={each} />
                ))}
              </ul>
              {!sessions.some(fits) && <p class="muted">{t("nothing_found")}</p>}
            </Section>
          )
        }
      </Loaded>
    </Page>
  );
}

function Soon({ ending, days, onKept }: { ending: Ending["sessions"]; days: number; onKept: () => Promise<void> }) {
  const keep = async () => {
    const { kept, failed } = await api.post<{ kept: string[]; failed: { reason: string }[] }>("/api/claude-code/keep");
    toast(t("kept", { n: kept.length }));
    for (const { reason } of failed.slice(0, 3)) toast(said(reason), { isError: true });
    await onKept();
  };
  return (
    <Section title={t("soon")}>
      <Notice kind="warning">
        <p>{t("soon_text", { n: ending.length, days: String(days) })}</p>
        {may("chat", "write") && <Button label={t("keep_all")} icon="check" kind="primary" onPress={keep} />}
      </Notice>
      <ul class="rows" aria-label={t("soon")}>
        {ending.map((each) => (
          <Talk key={each.sessionId} found={each} ends={each.endsAt} />
        ))}
      </ul>
    </Section>
  );
}

function Talk({ found, ends }: { found: Found; ends?: string }) {
  const title = found.title ?? found.firstMessage ?? t("untitled");
  const adopt = async () => {
    const done = await api.post<Adoption>("/api/claude-code/adopt/{session}", { params: { session: found.sessionId } });
    toast(said(done.message));
    go(to("chat", [done.parachuteSessionId]));
  };
  return (
    <Row
      title={<bdi>{title.slice(0, 200)}</bdi>}
      badges={ends && <Badge text={t("until", { day: moment(ends, { dateStyle: "medium" }) })} kind="warning" />}
      text={
        <>
          <Ago time={found.lastTimestamp} />
          {" · "}
          {t("messages", { n: found.messageCount })}
          {found.projectDisplayName && (
            <>
              {" · "}
              <bdi>{found.projectDisplayName}</bdi>
            </>
          )}
        </>
      }
      actions={may("chat", "write") && <Button label={t("adopt")} onPress={adopt} />}
    />
  );
}
