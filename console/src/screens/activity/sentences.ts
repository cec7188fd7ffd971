/** A record of the audit log as a sentence: who did what. */
import { callerName } from "~/text/callers";
import { messages, number } from "~/text/messages";
import { moduleName, partName } from "~/text/names";

export type AuditRecord = Record<string, unknown> & { timestamp: string; event_type: string };

const t = messages("activity_sentences", {
  owner: "The owner",
  bot_of: "The bot on {name}",
  agent: "An agent",
  agent_of: "The agent in “{title}”",
  hook: "A hook",
  computer: "This computer",
  moment: "less than a second",
  agent_request: "{who} asked to run an agent: {what}.",
  agent_start: "{who} started.",
  api_call: "{who} used {where}.",
  api_read: "{who} looked at {where}.",
  approval: "{who} approved {what}.",
  withdrawal: "{who} withdrew the approval of {what}.",
  audit_dropped: "Some records were lost because too many came at once.",
  bot: "{who} changed a bot: {what}.",
  bot_set_token: "{who} stored a token for the bot on {name}.",
  bot_remove_token: "{who} removed the token of the bot on {name}.",
  bot_configure: "{who} changed the settings of the bot on {name}.",
  bot_start: "{who} started the bot on {name}.",
  bot_stop: "{who} stopped the bot on {name}.",
  bot_unlink: "{who} removed a chat from the bot on {name}.",
  egress: "{who} reached {what} on the internet.",
  event: "The modules were told: {what}.",
  export: "{who} saved everything as plain files.",
  file_change: "{who} changed {what}.",
  files_changed: "{who} changed files: {what}.",
  gateway_call: "{who} asked the model and waited {time}.",
  git: "{who} used or decided about a repository: {what}.",
  git_set_token: "{who} stored a token for {what}.",
  git_remove_token: "{who} removed the token for {what}.",
  hook_run: "A hook ran: {what}.",
  import: "{who} imported something ({what}).",
  inbox_answer: "{who} answered in the inbox: {what}.",
  mcp_call: "{who} used {what} of the MCP server {where}.",
  memory: "{who} changed its notes: {what}.",
  module_call: "{who} asked the module {where}: {what}.",
  network: "{who} decided about a host: {what}.",
  pairing: "{who} changed who has access: {what}.",
  pairing_approve: "{who} let a chat talk to the bot on {name}.",
  pairing_deny: "{who} refused a chat that wanted to talk to the bot on {name}.",
  refused_key: "A call without a valid key came from {what}.",
  restore: "{who} restored the backup {what}.",
  run: "{who} worked for {time}.",
  suggestion: "{who} decided about a suggestion: {what}.",
  tool_call: "{who} used {what}.",
  other: "{who}: {what}.",
  always: "{what} (always allowed)",
  once: "{what} (allowed once)",
  never: "{what} (refused)",
  forget: "{what} (to be asked about again)",
  repeated: "{what} (again: {n})",
  push: "{what} (write)",
  fetch: "{what} (read)",
});

const SESSION = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The name of a conversation by its id, for people; nothing for one that is gone. */
export type Titles = ReadonlyMap<string, string>;

/** Name the one who did something. */
export function actor(kind: string, name: string, titles: Titles): string {
  const session = SESSION.exec(name.split("/")[0] ?? "")?.[0];
  const title = session && titles.get(session);
  if (title) return t("agent_of", { title });
  if (session || kind === "agent" || kind === "session") return t("agent");
  if (kind === "hook") return t("hook");
  if (name.toLowerCase() === "owner") return t("owner");
  const bot = /^connector:(.+)$/.exec(name)?.[1];
  if (bot) return t("bot_of", { name: capital(bot) });
  if (kind === "user") return capital(callerName(name));
  if (["local", "browser", "key", "cli"].includes(kind)) return capital(callerName(`${kind} ${name}`));
  return name && name !== "None" ? moduleName(name) : t("computer");
}

/** Deeds that have a sentence of their own: the first words of the record, and what they were done to. */
const DEEDS: Record<string, RegExp> = {
  bot: /^(set_token|remove_token|configure|start|stop|unlink) (\S+)/,
  git: /^(set token|remove token) of (.+)/,
  pairing: /^(approve|deny) (\S+)/,
};

/** Tell a record in one sentence. */
export function sentence(record: AuditRecord, titles: Titles): string {
  const { event_type, target_module, target_endpoint, tool, summary, duration_ms } = record;
  const said = [target_endpoint, tool, summary].filter(Boolean).map(String).join(" ");
  const [, verb, subject = ""] = DEEDS[event_type]?.exec(said) ?? [];
  const key = event_type === "hook" ? "hook_run" : verb ? `${event_type}_${verb.replace(" ", "_")}` : event_type;
  const values = {
    who: actor(String(record.source_type ?? ""), String(record.source_id ?? ""), titles),
    what: (verb ? subject : readable(event_type, said)) || event_type.replace(/_/g, " "),
    where: event_type.startsWith("api_") ? partName(String(target_module ?? "")) : moduleName(String(target_module ?? "")),
    name: capital(subject),
    time: duration(Number(duration_ms ?? 0)),
  };
  const told = t(key as "other", values);
  return told === key ? t("other", values) : told;
}

/** Words of programs in records: how a file was changed, and how a request was made. */
const FIRST: Record<string, RegExp> = {
  file_change: /^(write|edit|upload|delete|move|make-folder|create|undo) /,
  egress: /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) /,
  import: /^\w+ (?=\S+ \S+: )| \S+: .*$/g,
  refused_key: /^from /,
};
const DECIDED = /^(always|allow once|once|never|forget): (?:(push|fetch) )?(.+)$/s;
const REPEATED = / \((\d+) more\)$/;

/** The deed of a record, without the words that only programs need. */
function readable(type: string, what: string): string {
  const again = REPEATED.exec(what);
  if (again) return t("repeated", { what: readable(type, what.slice(0, again.index)), n: Number(again[1]) });
  const decided = DECIDED.exec(what);
  if (!decided) return what.replace(FIRST[type] ?? /^(?!)/, "");
  const [, choice = "", access, subject = ""] = decided;
  const used = access ? t(access as "push", { what: subject }) : subject;
  return t(choice.replace("allow ", "") as "always", { what: used });
}

/** Deeds of programs among themselves: nobody asked for them, and they hide what somebody did. */
const INNER = new Set(["event", "module_call", "gateway_call"]);
/** Looking, of which a page does much by itself: that some of it failed is no news either. */
const LOOKING = "api_read";
/** Parts whose requests are told by records of their own. */
const TOLD = new Set(["auth", "bots", "chat", "files", "git", "inbox", "network", "pairing", "suggestions", "write"]);

export function isInner({ event_type, target_module, success }: AuditRecord): boolean {
  return event_type === LOOKING || (success !== false && (INNER.has(event_type) || (event_type === "api_call" && TOLD.has(String(target_module)))));
}

const UNITS: [string, number][] = [
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Milliseconds in the unit that people count in. */
export function duration(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => milliseconds >= each) ?? ["", 0];
  if (!length) return t("moment");
  return number(milliseconds / length, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: milliseconds < 10_000 ? 1 : 0 });
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
