/** Callers, as records name them: a kind and a name. */
import { messages } from "./messages";

const t = messages("callers", { this_computer: "this computer", command_line: "command line" });

/** `local this computer` and the like in words; of devices only their name. */
export function callerName(text: string): string {
  if (text === "local" || text.startsWith("local ")) return t("this_computer");
  if (text.startsWith("cli ")) return t("command_line");
  return text.replace(/^(browser|key|session) (?=.)/, "");
}
