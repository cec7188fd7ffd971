/** State of a module, in a word. */
import { Badge } from "~/components/layout";
import type { Module } from "./models";
import { t } from "./texts";

export function StateBadge({ module }: { module: Module }) {
  if (module.pending_hash) return <Badge text={t("waits")} kind="warning" />;
  if (!module.enabled) return <Badge text={t("disabled")} />;
  if (module.problem || module.state !== "ready") return <Badge text={t("broken")} kind="danger" />;
  return module.unit?.state === "running" ? <Badge text={t("active")} kind="good" /> : <Badge text={t("asleep")} />;
}
