/** Settings of all bots: their language, and the inbox items that the owner's own chat shows. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Choice, Form, Switch, TextField } from "~/components/field";
import { Section } from "~/components/layout";
import { attempt, toast } from "~/state/toasts";
import type { Configuration } from "./models";
import { t } from "./texts";

export function General({ configuration, reload }: { configuration: Configuration; reload: () => Promise<void> }) {
  const [language, setLanguage] = useState(configuration.language);
  const [notices, setNotices] = useState(configuration.notices);
  const before = { language: configuration.language, notices: configuration.notices };
  const isChanged = JSON.stringify({ language, notices }) !== JSON.stringify(before);
  const save = () =>
    attempt(async () => {
      await api.put("/api/bots/config", { body: { language, notices } });
      toast(t("saved"));
      await reload();
    });
  return (
    <Section title={t("for_all")}>
      <Form onSubmit={save}>
        <Choice
          label={t("language")}
          hint={t("language_hint")}
          value={language}
          options={[
            { value: "en", label: "English" },
            { value: "de", label: "Deutsch" },
          ]}
          onChange={setLanguage}
        />
        <Switch label={t("notices")} hint={t("notices_hint")} isOn={notices.enabled} onChange={(enabled) => setNotices({ ...notices, enabled })} />
        {notices.enabled && (
          <div class="field-row">
            <TextField label={t("quiet_from")} type="time" value={notices.quiet_from} onInput={(quiet_from) => setNotices({ ...notices, quiet_from })} required />
            <TextField label={t("quiet_until")} type="time" value={notices.quiet_until} onInput={(quiet_until) => setNotices({ ...notices, quiet_until })} required />
          </div>
        )}
        {isChanged && <Button label={t("save")} kind="primary" submit />}
      </Form>
    </Section>
  );
}
