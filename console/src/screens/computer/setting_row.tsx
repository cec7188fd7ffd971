/** One setting: its field, its default, and what went wrong. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { confirm } from "~/components/dialog";
import { Badge } from "~/components/layout";
import { toast } from "~/state/toasts";
import { explain } from "~/text/errors";
import type { Setting } from "./models";
import { SettingField } from "./setting_field";
import { titleOf } from "./setting_words";
import { t } from "./texts";

interface Props {
  setting: Setting;
  onChanged: (setting: Setting) => void;
  reload: () => Promise<void>;
}

export function SettingRow({ setting, onChanged, reload }: Props) {
  const [error, setError] = useState<unknown>();
  const { name } = setting;
  const title = titleOf(setting);
  const mayChange = async () => {
    if (setting.caution === null) return true;
    const text = setting.caution === "reach" ? t("caution_reach") : t("caution_rights");
    return confirm(t("caution_title", { name: title }), text, t("change"));
  };
  const change = async (call: () => Promise<Setting>) => {
    setError(undefined);
    // What the field shows is not what holds, unless it is drawn anew.
    if (!(await mayChange())) return reload();
    try {
      const changed = await call();
      onChanged(changed);
      toast(changed.restart ? t("saved_later", { name: title }) : t("saved", { name: title }));
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <li>
      <SettingField
        setting={setting}
        onChange={(value) => change(() => api.put("/api/config/{name}", { params: { name }, body: { value } }))}
        onReset={() => change(() => api.delete("/api/config/{name}", { params: { name } }))}
      />
      {error !== undefined && (
        <p class="field-error" role="alert">
          {explain(error)}
        </p>
      )}
      <div class="computer-setting-name">
        <code>{name}</code>
        {setting.restart && <Badge text={t("restart_needed")} kind="warning" />}
        {setting.source === "declared" && <Badge text={t("declared")} />}
        {setting.source === "environment" && <Badge text={t("environment")} />}
      </div>
      {setting.restart === "computer" && <p class="muted">{t("restart_by_hand")}</p>}
      {setting.variable && <p class="muted">{t("of_variable", { name: setting.variable })}</p>}
      {setting.source === "declared" && <p class="muted">{t("of_declaration")}</p>}
    </li>
  );
}
