/** Language and look of the console in this browser. */
import { type Appearance, appearance, language, languages } from "~/state/preferences";
import { messages } from "~/text/messages";
import { Choice } from "./field";

const t = messages("look", {
  title: "Language and look",
  language: "Language",
  appearance: "Appearance",
  system: "As the device is set",
  light: "Light",
  dark: "Dark",
});

export const lookTitle = () => t("title");

export function Look() {
  return (
    <>
      <Choice
        label={t("language")}
        value={language.value}
        options={languages.map((code) => ({ value: code, label: new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code }))}
        onChange={(value) => (language.value = value)}
      />
      <Choice<Appearance>
        label={t("appearance")}
        value={appearance.value}
        options={(["system", "light", "dark"] as const).map((value) => ({ value, label: t(value) }))}
        onChange={(value) => (appearance.value = value)}
      />
    </>
  );
}
