/** The rights with which a conversation runs; full ones are given only after a question. */
import type { Schema } from "~/api/client";
import { confirm } from "~/components/dialog";
import { may } from "~/state/session";
import type { Beginning } from "./conversation";
import { t } from "./header_texts";

export type Level = "sandboxed" | "direct";
export type Place = Pick<Schema<"Workspace">, "slug" | "name" | "default_trust_level" | "working_directory" | "only_at_home">;

/** The level that a new conversation will have: what was chosen, or what its workspace says to those who may have it. */
export function levelOf(beginning: Beginning, workspaces: readonly Place[]): Level {
  const workspace = workspaces.find(({ slug }) => slug === beginning.workspaceId);
  const level = beginning.trustLevel ?? workspace?.default_trust_level;
  return level === "direct" && may("*", "admin") ? "direct" : "sandboxed";
}

/** Ask before a conversation gets all rights of the owner; true at once for every other change. */
export async function mayBecome(after: string, before: string): Promise<boolean> {
  return after !== "direct" || before === "direct" || confirm(t("direct_title"), t("direct_text"), t("direct_yes"));
}
