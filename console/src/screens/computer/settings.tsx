/** All settings of the computer by topic, drawn from what the server says of each: first those that were changed. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { TextField } from "~/components/field";
import { Empty, Loaded, Notice, Section } from "~/components/layout";
import { Look, lookTitle } from "~/components/look";
import type { Resource } from "~/state/resource";
import { useResource } from "~/state/resource";
import { said } from "~/text/server_sentences";
import type { AllSettings, Setting } from "./models";
import { restart } from "./overview";
import { SettingRow } from "./setting_row";
import { titleOf, topicTitle } from "./setting_words";
import { t } from "./texts";

type Found = Resource<AllSettings>;

const isChanged = (setting: Setting) => setting.source !== "default" || setting.restart !== null;

export function Settings({ search }: { search: string }) {
  const found: Found = useResource((signal) => api.get("/api/config", { signal }), "config", ["settings"]);
  const [words, setWords] = useState(search);
  const [isAll, setAll] = useState(false);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (setting: Setting) => {
    const text = `${setting.name} ${setting.title} ${titleOf(setting)} ${setting.description} ${said(setting.description)}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return (
    <Loaded of={found}>
      {({ settings, topics }) => {
        const waiting = settings.filter((setting) => setting.restart === "server");
        const isSearching = wanted.length > 0;
        const shown = topics
          .map((topic) => ({ topic, members: settings.filter((setting) => setting.topic === topic.key && matches(setting)) }))
          .filter(({ members }) => members.length > 0);
        return (
          <>
            {waiting.length > 0 && (
              <Notice kind="warning">
                <p>{t("waits_for_restart", { n: waiting.length, names: waiting.map(titleOf).join(", ") })}</p>
                <Button label={t("restart")} icon="refresh" onPress={restart} />
              </Notice>
            )}
            <TextField label={t("search")} type="search" value={words} onInput={setWords} />
            {!isSearching && (
              <>
                <div class="computer-line">
                  <p class="muted">{t(isAll ? "settings_all" : "settings_changed")}</p>
                  <Button label={t(isAll ? "show_changed" : "show_all")} onPress={() => setAll(!isAll)} />
                </div>
                <Section title={lookTitle()}>
                  <Look />
                </Section>
              </>
            )}
            {shown.length === 0 && (
              <Empty icon="search" title={t("no_settings")} text={t("no_settings_text")}>
                <Button label={t("all_settings")} kind="primary" onPress={() => setWords("")} />
              </Empty>
            )}
            {shown.map(({ topic, members }) => (
              <Topic key={topic.key} title={topicTitle(topic)} members={members} found={found} isAll={isSearching || isAll} />
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

/** Settings of a topic; those that have their defaults are behind a button. */
function Topic({ title, members, found, isAll }: { title: string; members: Setting[]; found: Found; isAll: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const visible = isAll || isOpen ? members : members.filter(isChanged);
  const hidden = members.length - visible.length;
  const take = (changed: Setting) => {
    const all = found.value;
    if (all) found.set({ ...all, settings: all.settings.map((each) => (each.name === changed.name ? changed : each)) });
  };
  return (
    <Section title={title}>
      {visible.length > 0 && (
        <ul class="computer-settings">
          {visible.map((setting) => (
            <SettingRow key={`${setting.name}${JSON.stringify(setting.value)}`} setting={setting} onChanged={take} reload={found.reload} />
          ))}
        </ul>
      )}
      {hidden > 0 && (
        <div class="computer-more">
          <Button label={t("more_settings", { n: hidden })} icon="down" kind="quiet" onPress={() => setOpen(true)} />
        </div>
      )}
    </Section>
  );
}
