/** Permissions left to one conversation within its workspace and the settings (docs/permissions.md). */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, TextField } from "~/components/field";
import { Chips, Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { number } from "~/text/messages";
import type { Session } from "./conversation";
import { t } from "./permissions_texts";

type Permissions = Schema<"SessionPermissions">;
type Template = Schema<"Template">;
type Limits = Schema<"Limits">;

interface Entry {
  value: string;
  label: string;
  hint?: string;
}

interface Known {
  before: Permissions;
  templates: Template[];
  folders: Entry[];
  mcps: Entry[];
  capabilities: Entry[];
  /** Limits of its sandbox by its workspace or the settings. */
  most: Limits;
  /** The hosts that the workspace names, if it has a list of its own. */
  workspace: Schema<"Workspace"> | null;
}

const LIMITS = ["memory_megabytes", "cpus", "processes"] as const;
const FIELDS = ["allowed_folders", "allowed_mcps", "capabilities", "network", "sandbox_override"] as const;
/** The folder of the conversation itself. */
const OWN = "${CWD}";

async function load(session: Session, signal: AbortSignal): Promise<Known> {
  const empty = <T,>(value: T) => () => value;
  const slug = session.workspaceId;
  const [shown, rules, folders, modules, servers, found] = await Promise.all([
    api.get("/api/chat/{session}", {
      params: { session: session.id },
      query: { limit: 1 },
      signal,
    }),
    api.get("/api/chat/permission-templates", { signal }),
    api.get("/api/ls", { signal }).catch(empty({ entries: [] })),
    api.get("/api/modules", { signal }).catch(empty({ modules: [] })),
    api.get("/api/mcps", { signal }).catch(empty({ servers: [] })),
    slug ? api.get("/api/workspaces/{slug}", { params: { slug }, signal }).catch(empty(null)) : null,
  ]);
  const workspace = found?.workspace ?? null;
  const allowed = workspace?.capabilities.mcps ?? "all";
  const isAllowed = (name: string) => allowed === "all" || (Array.isArray(allowed) && allowed.includes(name));
  return {
    before: shown.permissions,
    most: shown.sandbox_limits,
    templates: rules.templates,
    folders: [
      { value: OWN, label: t("own_folder") },
      ...folders.entries.filter(({ isDirectory, name }) => isDirectory && !name.startsWith(".")).map(({ name }) => ({ value: name, label: name })),
    ],
    mcps: [
      ...modules.modules.filter(({ name }) => isAllowed(name) || isAllowed("parachute")).map(({ name }) => ({ value: name, label: t("of_module", { name }) })),
      ...servers.servers
        .filter(({ name, builtin }) => !builtin && (isAllowed(name) || isAllowed(`mcp__${name}`)))
        .map(({ name }) => ({ value: `mcp__${name}`, label: t("of_server", { name }) })),
    ],
    capabilities: rules.capabilities.map(({ name, does }) => ({ value: name, label: name, hint: does })),
    workspace,
  };
}

export function PermissionsDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const found = useResource((signal) => load(session, signal), session.id);
  if (found.value) return <Editor {...{ session, known: found.value, onClose }} />;
  return (
    <Dialog title={t("title")} onClose={onClose}>
      <Loaded of={found}>{() => null}</Loaded>
    </Dialog>
  );
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Only what differs is sent; a template as such. */
function changes(before: Permissions, after: Permissions, templates: Template[]): object {
  const chosen = templates.find(({ permissions }) => FIELDS.every((name) => isSame(permissions[name], after[name])));
  if (chosen) return { template: chosen.name };
  return Object.fromEntries(FIELDS.filter((name) => !isSame(before[name], after[name])).map((name) => [name, after[name]]));
}

function Editor({ session, known, onClose }: { session: Session; known: Known; onClose: () => void }) {
  const { before, templates, workspace, most } = known;
  const [draft, setDraft] = useState(before);
  const [hosts, setHosts] = useState(before.network?.hosts.join("\n") ?? "");
  const change = (part: Partial<Permissions>) => setDraft({ ...draft, ...part });
  const network = draft.network?.mode ?? "all";
  const save = () =>
    attempt(async () => {
      const names = hosts.split(/\s+/).filter(Boolean);
      const after = { ...draft, network: network === "list" ? { mode: "list" as const, hosts: names } : draft.network };
      if (FIELDS.some((name) => !isSame(before[name], after[name]))) {
        await api.patch("/api/chat/{session}/config", { params: { session: session.id }, body: changes(before, after, templates) });
      }
      toast(t("saved"));
      onClose();
    });
  const template = templates.find(({ permissions }) => FIELDS.every((name) => isSame(permissions[name], draft[name])));
  return (
    <Dialog title={t("title")} onClose={onClose} actions={<Button label={t("save")} kind="primary" onPress={save} />}>
      <p class="muted">{workspace ? t("about_workspace", { name: workspace.name }) : t("about")}</p>
      <Chips
        label={t("template")}
        value={template?.name ?? ""}
        options={templates.map(({ name }) => ({ value: name, label: t(`template_${name}` as "template_guest") }))}
        onChange={(name) => {
          const chosen = templates.find((each) => each.name === name)?.permissions;
          if (chosen) change(Object.fromEntries(FIELDS.map((field) => [field, chosen[field]])));
        }}
      />
      <Part label={t("folders")} all={t("all_folders")} value={draft.allowed_folders} entries={known.folders} onChange={(allowed_folders) => change({ allowed_folders })} />
      <Part label={t("capabilities")} all={t("all_capabilities")} value={draft.capabilities} entries={known.capabilities} onChange={(capabilities) => change({ capabilities })} />
      <Part label={t("mcps")} all={t("all_mcps")} value={draft.allowed_mcps} entries={known.mcps} onChange={(allowed_mcps) => change({ allowed_mcps })} />
      <Choice
        label={t("network")}
        hint={workspace?.network.mode === "off" ? t("network_none") : undefined}
        value={network}
        options={(["all", "list", "off"] as const).map((value) => ({ value, label: t(`network_${value}`) }))}
        onChange={(mode) => change({ network: mode === "all" ? null : { mode, hosts: [] } })}
      />
      {network === "list" && (
        <TextField
          label={t("hosts")}
          hint={workspace?.network.hosts.length ? t("hosts_of", { hosts: workspace.network.hosts.join(", ") }) : t("hosts_hint")}
          value={hosts}
          onInput={setHosts}
          rows={3}
          monospace
        />
      )}
      <fieldset class="question">
        <legend>{t("limits")}</legend>
        <div class="field-row">
          {LIMITS.map((name) => (
            <TextField
              key={name}
              label={t(name)}
              hint={t("most", { n: number(most[name] ?? 0) })}
              type="number"
              value={String(draft.sandbox_override?.[name] ?? "")}
              onInput={(text) => change({ sandbox_override: limited(draft.sandbox_override, name, text) })}
            />
          ))}
        </div>
      </fieldset>
    </Dialog>
  );
}

/** Limits with one of them changed, or taken back by an empty text. */
function limited(before: Limits | null, name: keyof Limits, text: string): Limits | null {
  const after = { ...before, [name]: text === "" ? undefined : Number(text) };
  const kept = LIMITS.filter((each) => after[each] !== undefined);
  return kept.length ? Object.fromEntries(kept.map((each) => [each, after[each]])) : null;
}

interface PartProps {
  label: string;
  /** Label when nothing was taken. */
  all: string;
  value: string[] | null;
  entries: Entry[];
  onChange: (value: string[] | null) => void;
}

/** All of something, or those that are ticked. */
function Part({ label, all, value, entries, onChange }: PartProps) {
  const known = new Set(entries.map((entry) => entry.value));
  // Named one by one elsewhere, such as a single tool by a template.
  const others = (value ?? []).filter((name) => !known.has(name)).map((name): Entry => ({ value: name, label: name }));
  const [kept] = useState(others);
  const shown = [...entries, ...kept, ...others.filter((entry) => !kept.some((each) => each.value === entry.value))];
  return (
    <fieldset class="question">
      <legend>{label}</legend>
      <Choice
        label={label}
        isLabelHidden
        value={value === null ? "all" : "some"}
        options={[
          { value: "all", label: all },
          { value: "some", label: t("some", { n: value?.length ?? 0 }) },
        ]}
        onChange={(word) => onChange(word === "all" ? null : [])}
      />
      {value !== null &&
        shown.map((entry) => (
          <label key={entry.value} class="option">
            <input
              type="checkbox"
              checked={value.includes(entry.value)}
              onChange={(event) => onChange(event.currentTarget.checked ? [...value, entry.value] : value.filter((name) => name !== entry.value))}
            />
            <span>
              <bdi>{entry.label}</bdi>
              {entry.hint && <small>{entry.hint}</small>}
            </span>
          </label>
        ))}
    </fieldset>
  );
}
