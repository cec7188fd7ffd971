/** Defaults of a bot's new chats, and people who need no approval. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { attempt, toast } from "~/state/toasts";
import { platformName } from "~/text/platforms";
import { type BotSettings, TEMPLATES, type Template } from "./models";
import { t } from "./texts";

interface Props {
  platform: string;
  settings: BotSettings;
  reload: () => Promise<void>;
  onClose: () => void;
}

const limit = (text: string) => (text === "" ? null : Number(text));

export function SettingsDialog({ platform, settings, reload, onClose }: Props) {
  const hasRooms = settings.allowed_rooms !== undefined;
  const listed = hasRooms ? "allowed_rooms" : "allowed_users";
  const [template, setTemplate] = useState(settings.template as Template);
  const [dollars, setDollars] = useState(String(settings.daily_dollars ?? ""));
  const [tokens, setTokens] = useState(String(settings.daily_tokens ?? ""));
  const [allowed, setAllowed] = useState((settings[listed] ?? []).join("\n"));
  const [server, setServer] = useState(settings.server_url ?? "");
  const save = () =>
    attempt(async () => {
      const changes = {
        template,
        daily_dollars: limit(dollars),
        daily_tokens: limit(tokens),
        [listed]: allowed.split(/\s+/).filter(Boolean),
        ...(!hasRooms && { server_url: server }),
      };
      await api.put("/api/bots/config", { body: { [platform]: changes } });
      toast(t("saved"));
      await reload();
      onClose();
    });
  return (
    <Dialog title={t("settings_of", { platform: platformName(platform) })} onClose={onClose}>
      <Form onSubmit={save}>
        <p class="muted">{t("level_text")}</p>
        <TemplateChoice label={t("new_chats")} value={template} onChange={setTemplate} />
        <div class="field-row">
          <TextField label={t("dollars")} type="number" value={dollars} onInput={setDollars} />
          <TextField label={t("tokens")} type="number" value={tokens} onInput={setTokens} />
        </div>
        <p class="muted">{t("limits_hint")}</p>
        <TextField label={t(listed)} hint={t(`${listed}_hint`)} value={allowed} onInput={setAllowed} rows={2} monospace />
        {!hasRooms && <TextField label={t("server")} hint={t("server_hint")} type="url" value={server} onInput={setServer} autocomplete="off" />}
        <Button label={t("save")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}

/** Choice of a chat's capabilities, in everyday words. */
export function TemplateChoice({ label, value, onChange }: { label: string; value: Template; onChange: (value: Template) => void }) {
  return (
    <Choice
      label={label}
      hint={t(`template_${value}_text`)}
      value={value}
      options={TEMPLATES.map((name) => ({ value: name, label: t(`template_${name}`) }))}
      onChange={onChange}
    />
  );
}
