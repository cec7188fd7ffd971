/** The computer's own state as the API has it (docs/doctor.md, docs/backup.md, docs/network.md). */
import type { Running } from "~/components/restoring/models";

export interface Provider {
  provider: string | null;
  because: string;
  credential: { source: string; kind: string; expired: boolean; problem: string | null; ends_at: string | null } | null;
  spent_today: number;
}

export interface Status {
  version: string;
  vault: string;
  port: number;
  recovery: { message: string }[];
  provider: Provider;
  sandbox: { engine: string | null; reason: string | null; required: boolean };
  sessions: { total: number; active: number };
  memory: { on: boolean; reason: string | null };
  agents: { warm: number; spare: boolean };
}

export interface UpdateCheck {
  name: string;
  ok: boolean;
  sentence: string;
  detail: string | null;
}

interface RunningVersion {
  version: string | null;
  name: string;
  source: string;
}

export interface Update {
  phase:
    | ("staging" | "rehearsing" | "putting" | "probation" | "blessing" | "returning")
    | ("done" | "refused" | "newest" | "cancelled" | "back");
  began: string;
  at: string;
  until: string | null;
  step: string | null;
  old: RunningVersion;
  new: RunningVersion | null;
  checks: UpdateCheck[];
  changes: string[];
  problem: string | null;
  hint: string | null;
  since: string[];
}

export interface Updates {
  running: RunningVersion;
  source: string | null;
  automatic: boolean;
  under_way: boolean;
  can_go_back: boolean;
  update: Update | null;
}

export interface Setting {
  name: string;
  kind: "boolean" | "integer" | "number" | "text" | "word" | "list" | "mapping";
  value: unknown;
  default: unknown;
  description: string;
  expects: string;
  allowed: string[];
  may_be_empty: boolean;
  source: "default" | "file" | "declared" | "environment";
  variable: string | null;
  can_change: boolean;
  is_masked: boolean;
  restart: "server" | "computer" | null;
  caution: "reach" | "rights" | null;
}

export interface Check {
  id: string;
  key: string | null;
  title: string;
  group: string;
  result: "ok" | "warning" | "problem" | "skipped";
  message: string;
  next: string | null;
  details: string[];
  fix: string | null;
  can_fix: boolean;
  is_dismissed: boolean;
}

export interface Examination {
  examined_at: string | null;
  is_examining: boolean;
  checks: Check[];
}

export interface Operation {
  at: string;
  result: "ok" | "incomplete" | "failed";
  message: string | null;
  backup: string | null;
}

/** `started` is whether the computer has started from the backup, `not_started` why that could not be tried. */
export interface Drill extends Operation {
  started?: boolean | null;
  not_started?: string | null;
}

export interface BackupStatus {
  configured: boolean;
  repository: string | null;
  protected: boolean;
  kit_opened_at: string | null;
  credentials: string[];
  concerns: string[];
  create: Operation | null;
  verify: Operation | null;
  drill: Drill | null;
  running: Running | null;
  problem: string | null;
}

export interface Decision {
  workspace: string | null;
  host?: string;
  repository?: string;
  access?: "fetch" | "push";
  choice: "always" | "never";
  decided_by: string;
  decided_at: string;
}

export interface Hook {
  name: string;
  events: string[];
  blocking: boolean;
  description: string;
  command: string | null;
  source: string;
  approved: boolean;
  problem: string | null;
  off: string | null;
}
