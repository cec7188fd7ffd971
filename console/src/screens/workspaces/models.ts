/** A workspace as the API has it (docs/workspaces.md). */
export const KINDS = ["mcps", "skills", "agents", "plugins"] as const;
export type Kind = (typeof KINDS)[number];
export type Choice = "all" | "none" | string[];

export interface Workspace {
  slug: string;
  name: string;
  description: string;
  default_trust_level: "sandboxed" | "direct";
  working_directory: string | null;
  model: string | null;
  capabilities: Record<Kind, Choice>;
  network: { mode: "off" | "ask" | "list"; hosts: string[] };
  git: { repository: string; access: "fetch" | "push" }[];
  apply: "auto" | "review" | "live" | null;
  declared: boolean;
}

export const NEW: Workspace = {
  slug: "",
  name: "",
  description: "",
  default_trust_level: "sandboxed",
  working_directory: null,
  model: null,
  capabilities: { mcps: "all", skills: "all", agents: "all", plugins: "all" },
  network: { mode: "ask", hosts: [] },
  git: [],
  apply: null,
  declared: false,
};
