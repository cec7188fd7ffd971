/** Language and look of the console in this browser. */
import { type Appearance, appearance, type Language, language } from "~/state/preferences";
import { messages } from "~/text/messages";
import { Choice } from "./field";

const t = messages({
  en: {
    title: "Language and look",
    language: "Language",
    appearance: "Appearance",
    system: "As the device is set",
    light: "Light",
    dark: "Dark",
  },
  de: {
    title: "Sprache und Aussehen",
    language: "Sprache",
    appearance: "Aussehen",
    system: "Wie das Gerät eingestellt ist",
    light: "Hell",
    dark: "Dunkel",
  },
});

export const lookTitle = () => t("title");

export function Look() {
  return (
    <>
      <Choice<Language>
        label={t("language")}
        value={language.value}
        options={[
          { value: "en", label: "English" },
          { value: "de", label: "Deutsch" },
        ]}
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
