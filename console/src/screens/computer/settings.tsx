/** All settings of the computer, drawn from what the server says of each. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Badge, Empty, Loaded, Notice, Section } from "~/components/layout";
import type { Resource } from "~/state/resource";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { restart } from "./overview";
import { SettingField } from "./setting_field";
import type { Setting } from "./models";
import { t } from "./texts";

type Found = Resource<{ settings: Setting[] }>;

export function Settings({ search }: { search: string }) {
  const found: Found = useResource((signal) => api.get("/api/config", { signal }), "config", ["settings"]);
  const [words, setWords] = useState(search);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (setting: Setting) => wanted.every((word) => `${setting.name} ${setting.description}`.toLowerCase().includes(word));
  return (
    <Loaded of={found}>
      {({ settings }) => {
        const waiting = settings.filter((setting) => setting.restart === "server");
        const groups = grouped(settings.filter(matches));
        return (
          <>
            {waiting.length > 0 && (
              <Notice kind="warning">
                <p>{t("waits_for_restart", { n: waiting.length, names: waiting.map(({ name }) => name).join(", ") })}</p>
                <Button label={t("restart")} icon="refresh" onPress={restart} />
              </Notice>
            )}
            <TextField label={t("search")} type="search" value={words} onInput={setWords} />
            {groups.length === 0 && (
              <Empty icon="search" title={t("no_settings")} text={t("no_settings_text")}>
                <Button label={t("all_settings")} kind="primary" onPress={() => setWords("")} />
              </Empty>
            )}
            {groups.map(([group, members]) => (
              <Section key={group} title={group || t("general")}>
                <ul class="computer-settings">
                  {members.map((setting) => (
                    <One key={`${setting.name}${JSON.stringify(setting.value)}`} setting={setting} found={found} />
                  ))}
                </ul>
              </Section>
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

/** The settings by the first part of their names; those without one come first. */
function grouped(settings: Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const group = setting.name.includes(".") ? (setting.name.split(".")[0] ?? "") : "";
    groups.set(group, [...(groups.get(group) ?? []), setting]);
  }
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

function One({ setting, found }: { setting: Setting; found: Found }) {
  const { name } = setting;
  const mayChange = async () => {
    if (setting.caution === null) return true;
    const text = setting.caution === "reach" ? t("caution_reach") : t("caution_rights");
    return confirm(t("caution_title", { name }), text, t("change"));
  };
  const take = (changed: Setting) => {
    const all = found.value?.settings ?? [];
    found.set({ settings: all.map((each) => (each.name === name ? changed : each)) });
    toast(changed.restart ? t("saved_later", { name }) : t("saved", { name }));
  };
  const put = (value: unknown) =>
    attempt(async () => {
      if (await mayChange()) take(await api.put("/api/config/{name}", { params: { name }, body: { value } }));
      // What the field shows is not what holds, unless it is drawn anew.
      else await found.reload();
    });
  const reset = () =>
    attempt(async () => {
      if (await mayChange()) take(await api.delete("/api/config/{name}", { params: { name } }));
    });
  return (
    <li>
      <div class="computer-setting-name">
        <code>{name}</code>
        {setting.restart && <Badge text={t("restart_needed")} kind="warning" />}
        {setting.source === "declared" && <Badge text={t("declared")} />}
        {setting.source === "environment" && <Badge text={t("environment")} />}
      </div>
      <SettingField setting={setting} onChange={put} onReset={reset} />
      {setting.restart === "computer" && <p class="muted">{t("restart_by_hand")}</p>}
      {setting.variable && <p class="muted">{t("of_variable", { name: setting.variable })}</p>}
      {setting.source === "declared" && <p class="muted">{t("of_declaration")}</p>}
    </li>
  );
}
