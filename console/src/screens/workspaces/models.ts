/** A workspace as the API has it (docs/workspaces.md). */
import type { Schema } from "~/api/client";

export const KINDS = ["mcps", "skills", "agents", "plugins"] as const;
export type Kind = (typeof KINDS)[number];
export type Choice = "all" | "none" | string[];

type Kept = "memory_megabytes" | "cpus" | "processes" | "created_at" | "updated_at";

/** The fields that the screen shows and changes. */
export type Workspace = Omit<Schema<"Workspace">, Kept>;

export const NEW: Workspace = {
  slug: "",
  name: "",
  description: "",
  default_trust_level: "sandboxed",
  working_directory: null,
  model: null,
  only_at_home: false,
  capabilities: { mcps: "all", skills: "all", agents: "all", plugins: "all" },
  network: { mode: "ask", hosts: [] },
  git: [],
  apply: null,
  declared: false,
};
