/** Models of costs, and the names of their subjects. */
import type { Schema } from "~/api/client";
import { moduleName } from "~/text/names";
import { t } from "./texts";

export type Used = Schema<"Usage">;

export function tokensOf(used: Used): number {
  return used.input_tokens + used.output_tokens;
}

/** The name of a subject (docs/costs.md) for a person. */
export function subjectName(subject: string): string {
  const [kind = "", name = ""] = subject.split(":", 2);
  const known = ["chats", "computer", "questions", "guests", "workspace", "module", "hook"].includes(kind);
  const guest = kind === "guest" && /^([a-z]+)-(.+)$/.exec(name);
  if (guest) return t("guest", { where: (guest[1] ?? "").replace(/^./, (letter) => letter.toUpperCase()), name: guest[2] ?? "" });
  return known ? t(kind as "workspace", { name: kind === "module" ? moduleName(name) : name }) : subject;
}
