/** The screens on which what the doctor finds is mended, by the names of its checks. */
import { messages } from "~/text/messages";
import { to } from "./router";

const t = messages("mending", {
  open_backups: "Open the backups",
  open_keys: "Open keys and devices",
  open_modules: "Open the modules",
  open_settings: "Open the settings",
  open_hooks: "Open the hooks",
  open_model: "Open the model",
  open_updates: "Open the updates",
});

const PLACES: Record<string, [Parameters<typeof t>[0], () => string]> = {
  backup: ["open_backups", () => to("computer", ["backups"])],
  keys: ["open_keys", () => to("keys")],
  modules: ["open_modules", () => to("modules")],
  "module-packages": ["open_modules", () => to("modules")],
  settings: ["open_settings", () => to("computer", ["settings"])],
  hooks: ["open_hooks", () => to("computer", ["hooks"])],
  credentials: ["open_model", () => to("computer", ["model"])],
  updates: ["open_updates", () => to("computer", ["updates"])],
};

/** The screen for a check, with the words of the button that leads there. */
export function mending(check: string): { label: string; href: string } | undefined {
  const found = PLACES[check];
  return found && { label: t(found[0]), href: found[1]() };
}
