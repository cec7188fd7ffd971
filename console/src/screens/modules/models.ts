/** Modules as the API has them (docs/installing-modules.md). */
export interface AgentRights {
  name: string;
  description: string;
  network: string;
  files: string;
  commands: string;
  tools: string[];
  can_suggest: string[];
  sandboxed: boolean;
  limits: string;
}

export interface Permissions {
  name: string;
  version: string;
  description: string;
  folders: string[];
  write: string[];
  read: string[];
  network: string[];
  commands: string[];
  agents: AgentRights[];
  mcp_tools: { name: string; description: string }[];
  mcp_used: string[];
  hooks: string[];
  interfaces: string[];
  gives?: string[];
  without_effect?: string[];
  scheduled: unknown[];
  author: string;
  title: string;
  icon: string;
  reasons: Record<string, string>;
}

export interface Module {
  name: string;
  state: string;
  reason: string | null;
  enabled: boolean;
  version: string;
  trust_level: string;
  source: string;
  hash: string | null;
  pending_hash: string | null;
  author: string | null;
  title: string | null;
  icon: string | null;
  permissions: Permissions | null;
  unit: { state: string; reason: string | null } | null;
  confinement: string[];
  not_given?: string[];
  declared: boolean;
  problem: string | null;
}

/** Consent shown before an approval; the approval names its hash. */
export interface Consent {
  name: string;
  hash: string;
  source: string;
  trust_level: string;
  question: string;
  permissions: Permissions;
  changes: unknown;
  packages: string[];
  files?: { path: string; change?: string; diff?: string | null }[];
  unchanged?: boolean;
}

/** One that came with the computer; with a `problem` it cannot be installed, and nothing else is known of it. */
export type Official = (Consent & { installed: boolean; problem?: undefined }) | { name: string; source: string; installed: boolean; problem: string };
export type Offered = Extract<Official, Consent>;

export interface Staged {
  id: string;
  status: "fetching" | "waiting" | "installing" | "installed" | "failed" | "deleted";
  steps: string[];
  detail: string;
  hash: string | null;
  consent: Consent | null;
  error: string | null;
}
