/** The form of a workspace; only what was changed is sent. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form, Switch, TextField } from "~/components/field";
import { ModelChoice } from "~/components/model_choice";
import { attempt } from "~/state/toasts";
import { type Choice as Allowed, type Kind, KINDS, type Workspace } from "./models";
import { t } from "./texts";

interface Props {
  workspace: Workspace;
  onClose: () => void;
  onSaved: () => Promise<void>;
}

const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function grants(text: string): Workspace["git"] {
  return lines(text).map((line) => {
    const [repository = "", access = "fetch"] = line.split("=", 2);
    return { repository, access: access as "fetch" | "push" };
  });
}

export function Editor({ workspace, onClose, onSaved }: Props) {
  const [draft, setDraft] = useState(workspace);
  const [hosts, setHosts] = useState(workspace.network.hosts.join("\n"));
  const [git, setGit] = useState(workspace.git.map(({ repository, access }) => `${repository}=${access}`).join("\n"));
  const change = (part: Partial<Workspace>) => setDraft({ ...draft, ...part });
  const save = () =>
    attempt(async () => {
      const wanted = { ...draft, network: { ...draft.network, hosts: lines(hosts) }, git: grants(git) };
      const { slug, declared: _, ...fields } = wanted;
      const before = workspace as unknown as Record<string, unknown>;
      const body = Object.fromEntries(
        Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
      );
      // Times and limits of the API come along unchanged, and are therefore not sent.
      if (slug) await api.put("/api/workspaces/{slug}", { params: { slug }, body });
      else await api.post("/api/workspaces", { body });
      await onSaved();
      onClose();
    });
  return (
    <Dialog title={workspace.slug ? t("edit", { name: workspace.name }) : t("create")} onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label={t("name")} value={draft.name} onInput={(name) => change({ name })} required />
        <TextField label={t("description")} value={draft.description} onInput={(description) => change({ description })} />
        <TextField
          label={t("folder")}
          hint={t("folder_hint")}
          value={draft.working_directory ?? ""}
          onInput={(folder) => change({ working_directory: folder || null })}
        />
        <Choice
          label={t("network")}
          value={draft.network.mode}
          options={(["ask", "list", "off"] as const).map((value) => ({ value, label: t(`network_${value}`) }))}
          onChange={(mode) => change({ network: { ...draft.network, mode } })}
        />
        {draft.network.mode !== "off" && <TextField label={t("hosts")} hint={t("hosts_hint")} value={hosts} onInput={setHosts} rows={2} monospace />}
        <TextField label={t("git")} hint={t("git_hint")} value={git} onInput={setGit} rows={2} monospace />
        <Choice
          label={t("apply")}
          value={draft.apply ?? "default"}
          options={(["default", "auto", "review", "live"] as const).map((value) => ({ value, label: t(`apply_${value}`) }))}
          onChange={(apply) => change({ apply: apply === "default" ? null : apply })}
        />
        <Choice
          label={t("level")}
          value={draft.default_trust_level}
          options={(["sandboxed", "direct"] as const).map((value) => ({ value, label: t(`level_${value}`) }))}
          onChange={(default_trust_level) => change({ default_trust_level })}
        />
        <ModelChoice
          label={t("model")}
          none={t("model_default")}
          value={draft.model ?? ""}
          isAtHome={draft.only_at_home}
          onChange={(model) => change({ model: model || null })}
        />
        <Switch label={t("at_home")} hint={t("at_home_hint")} isOn={draft.only_at_home} onChange={(only_at_home) => change({ only_at_home })} />
        <fieldset class="form">
          <legend>{t("uses")}</legend>
          {KINDS.map((kind) => (
            <Uses
              key={kind}
              kind={kind}
              choice={draft.capabilities[kind]}
              onChange={(choice) => change({ capabilities: { ...draft.capabilities, [kind]: choice } })}
            />
          ))}
        </fieldset>
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}

function Uses({ kind, choice, onChange }: { kind: Kind; choice: Allowed; onChange: (choice: Allowed) => void }) {
  const [names, setNames] = useState(Array.isArray(choice) ? choice.join(", ") : "");
  const split = (text: string) => text.split(",").map((name) => name.trim()).filter(Boolean);
  return (
    <>
      <Choice
        label={t(kind)}
        value={Array.isArray(choice) ? "some" : choice}
        options={(["all", "none", "some"] as const).map((value) => ({ value, label: t(`uses_${value}`) }))}
        onChange={(value) => onChange(value === "some" ? split(names) : value)}
      />
      {Array.isArray(choice) && (
        <TextField
          label={t("names")}
          hint={t("names_hint")}
          value={names}
          onInput={(text) => {
            setNames(text);
            onChange(split(text));
          }}
        />
      )}
    </>
  );
}
