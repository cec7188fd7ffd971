/** The settings of a module, drawn from what its manifest says of them. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Choice, Form, Switch, TextField } from "~/components/field";
import { Loaded, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { described } from "~/text/server_sentences";
import { t } from "./texts";

type Setting = Schema<"SettingRow">;

export function ModuleSettings({ name }: { name: string }) {
  const found = useResource(
    (signal) => api.get("/api/modules/{name}/settings", { params: { name }, signal }),
    name,
    ["modules"],
  );
  const put = (setting: string, value: unknown) =>
    attempt(async () => {
      await api.put("/api/modules/{name}/settings/{setting}", { params: { name, setting }, body: { value } });
      await found.reload();
    });
  const reset = (setting: string) =>
    attempt(async () => {
      await api.delete("/api/modules/{name}/settings/{setting}", { params: { name, setting } });
      await found.reload();
    });
  return (
    <Section title={t("settings")}>
      <Loaded of={found}>
        {({ settings }) =>
          settings.length === 0 ? (
            <p class="muted">{t("no_settings")}</p>
          ) : (
            <div class="form">
              {settings.map((setting) => (
                <SettingField
                  key={`${setting.name}${JSON.stringify(setting.value)}`}
                  setting={setting}
                  onChange={(value) => put(setting.name, value)}
                  onReset={() => reset(setting.name)}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}

interface FieldProps {
  setting: Setting;
  onChange: (value: unknown) => unknown;
  onReset: () => unknown;
}

function SettingField({ setting, onChange, onReset }: FieldProps) {
  const [text, setText] = useState(setting.type === "secret" ? "" : String(setting.value ?? ""));
  const label = described(setting.description) || setting.name;
  const isReadOnly = !may("modules", "admin");
  if (setting.type === "boolean") {
    return <Switch label={label} isOn={setting.value === true} onChange={onChange} disabled={isReadOnly} />;
  }
  if (setting.choices.length > 0) {
    const options = setting.choices.map((value) => ({ value, label: value }));
    return <Choice label={label} value={String(setting.value)} options={options} onChange={onChange} />;
  }
  const isNumber = setting.type === "integer" || setting.type === "number";
  return (
    <Form onSubmit={() => onChange(isNumber ? Number(text) : text)}>
      <TextField
        label={label}
        hint={setting.type === "secret" && setting.is_set ? t("is_set") : undefined}
        type={setting.type === "secret" ? "password" : isNumber ? "number" : "text"}
        autocomplete="off"
        value={text}
        onInput={setText}
      />
      {!isReadOnly && (
        <div class="buttons">
          {setting.is_set && <Button label={t("default")} onPress={onReset} />}
          <Button label={t("save")} submit />
        </div>
      )}
    </Form>
  );
}
