/** A change that somebody proposed: who and why, and the lines that it changes; on its own screen and in the inbox. */
import type { ComponentChildren } from "preact";
import { api, type Schema } from "~/api/client";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { messages } from "~/text/messages";
import { moduleName } from "~/text/names";
import { said } from "~/text/server_sentences";
import { Difference } from "./difference";
import { Icon, type IconName } from "./icons";
import { Ago, Badge, Loaded, Notice } from "./layout";

const t = messages("suggestion", {
  create: "New: {name}",
  update: "Update: {name}",
  delete: "Delete: {name}",
  link: "Link: {name}",
  batch: "{name}",
  unnamed: "without a name",
  nothing: "The text does not change.",
  instead: "Applied with another text than proposed.",
  not_applied: "Not applied yet: {error}",
  problem: "Cannot be applied now: {problem}",
  from_web: "Part of it came from the web.",
  from_remote_mcp: "Part of it came from a remote MCP server.",
  from_guest: "Part of it came from people who talk to a bot.",
  from_import: "Part of it came from an import, or is of unknown origin.",
  from_untrusted_module: "Part of it came from a module that is not trusted.",
});

export type Suggestion = Schema<"ShownSuggestion">;

const ICONS: Record<Suggestion["action"], IconName> = { create: "plus", update: "edit", delete: "trash", link: "link", batch: "list" };
/** Targets of the computer itself in place of a module; only an owner decides about them. */
const OWN = new Set(["settings", "memory", "contexts"]);
/** Of these nothing is taken back here. */
const KEPT = new Set(["settings", "memory"]);
/** Origins of text that neither the owner nor the owner's agents wrote. */
const FROM = ["web", "remote_mcp", "guest", "import", "untrusted_module"] as const;

export function named(suggestion: Suggestion): string {
  return t(suggestion.action, { name: suggestion.title || suggestion.target_id || t("unnamed") });
}

/** Return whether this browser may decide about it: in suggestions, and in everything that it changes. */
export function mayDecide(suggestion: Suggestion): boolean {
  const parts = suggestion.members.length ? suggestion.members : [suggestion];
  return (
    may("suggestions", "write") &&
    parts.every(({ target_module }) => may(target_module, OWN.has(target_module) ? "admin" : "write"))
  );
}

/** Return whether a decision can be taken back. */
export function mayUndo(suggestion: Suggestion): boolean {
  return mayDecide(suggestion) && suggestion.status !== "pending" && (suggestion.status === "rejected" || canTakeBack(suggestion));
}

/** Return whether the target can take its change back. */
export function canTakeBack(suggestion: Suggestion): boolean {
  return !KEPT.has(suggestion.target_module);
}

/** The whole card; `actions` are buttons at its end. */
export function SuggestionCard({ suggestion, actions }: { suggestion: Suggestion; actions?: ComponentChildren }) {
  const heading = `suggestion-${suggestion.id}`;
  return (
    <article class="card" aria-labelledby={heading}>
      <header class="card-header">
        <Icon name={ICONS[suggestion.action]} />
        <h2 id={heading}>
          <bdi>{named(suggestion)}</bdi>
        </h2>
        {suggestion.target_module && <Badge text={moduleName(suggestion.target_module)} kind="accent" />}
      </header>
      <Source of={suggestion} />
      <SuggestionBody suggestion={suggestion} />
      {actions && <footer class="card-actions">{actions}</footer>}
    </article>
  );
}

export function Source({ of }: { of: Suggestion }) {
  return (
    <p class="muted">
      <bdi>{moduleName(of.source_agent)}</bdi> · <Ago time={of.timestamp} />
    </p>
  );
}

/** Reason and change of a suggestion; of several, each in its turn. */
export function SuggestionBody({ suggestion }: { suggestion: Suggestion }) {
  return (
    <>
      {suggestion.reasoning && (
        <p>
          {/* The journal's own words; those of agents stay as they are. */}
          <bdi>{suggestion.source_agent === "daily" ? said(suggestion.reasoning) : suggestion.reasoning}</bdi>
        </p>
      )}
      <Origin of={suggestion.origin} />
      {suggestion.members.length > 0 ? (
        <ul class="card-members">
          {suggestion.members.map((member) => (
            <li key={member.id}>
              <strong>
                <bdi>{named(member)}</bdi>
              </strong>{" "}
              <Badge text={moduleName(member.target_module)} />
              <Changed suggestion={member} />
            </li>
          ))}
        </ul>
      ) : (
        <Changed suggestion={suggestion} />
      )}
      {suggestion.modifications && <p class="muted">{t("instead")}</p>}
      {suggestion.error && (
        <Notice kind="warning">
          <p>{t("not_applied", { error: said(suggestion.error) })}</p>
        </Notice>
      )}
    </>
  );
}

function Origin({ of }: { of: string | null | undefined }) {
  const from = FROM.find((name) => name === of);
  return from ? (
    <Notice kind="warning">
      <p>{t(`from_${from}`)}</p>
    </Notice>
  ) : null;
}

/** Topics with which a preview is fetched again. */
const TOPICS: Record<string, string> = { daily: "journal", chat: "sessions", contexts: "files" };

function Changed({ suggestion: { id, status, target_module } }: { suggestion: Suggestion }) {
  const found = useResource(
    (signal) => api.get("/api/suggestions/{identifier}/preview", { params: { identifier: id }, signal }),
    `${id}/${status}`,
    status === "pending" ? [TOPICS[target_module] ?? target_module] : [],
  );
  return (
    <Loaded of={found}>
      {({ diff, problem }) => (
        <>
          {problem && (
            <Notice kind="warning">
              <p>{t("problem", { problem: said(problem) })}</p>
            </Notice>
          )}
          {diff ? <Difference text={readable(diff)} /> : <p class="muted">{t("nothing")}</p>}
        </>
      )}
    </Loaded>
  );
}

/** The lines of a unified diff without the places of its parts. */
function readable(diff: string): string {
  const lines = diff.split("\n").map((line) => (line.startsWith("@@") ? "⋯" : line));
  return (lines[0] === "⋯" ? lines.slice(1) : lines).join("\n");
}
