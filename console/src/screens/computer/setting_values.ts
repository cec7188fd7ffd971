/** The words that a setting may have, as people say them. */
import { messages } from "~/text/messages";

const t = messages("setting_values", {
  auth_mode_remote: "those on other machines",
  auth_mode_always: "everybody",
  auth_mode_disabled: "nobody",
  provider_auto: "chosen by itself",
  provider_anthropic: "at Anthropic",
  provider_compatible: "on a server of your own",
  provider_offline: "on this computer",
  propose: "is proposed",
  write: "is written at once",
  off: "off",
  ask: "what you allow when asked",
  list: "the hosts below",
  network_mode_off: "nothing",
  auto: "chosen by itself",
  apply_auto: "at once, and can be undone",
  review: "when you have reviewed it",
  live: "directly, and cannot be undone",
  weekly: "every week",
  monthly: "every month",
  podman: "Podman",
  bubblewrap: "bubblewrap",
  enforced: "has to work",
  unavailable: "may be missing",
  en: "English",
  de: "Deutsch",
});

/** The words for a value: of this setting, of its last name, or of any; the value itself where there are none. */
export function valueName(setting: string, value: string): string {
  const keys = [`${setting.replaceAll(".", "_")}_${value}`, `${setting.split(".").at(-1)}_${value}`, value];
  const texts = keys.map((key) => [key, t(key as "ask")] as const);
  return texts.find(([key, text]) => text !== key)?.[1] ?? value;
}
