/** The computer's own state as the API has it (docs/doctor.md, docs/backup.md, docs/network.md). */
import type { Schema } from "~/api/client";

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

export type UpdateCheck = Schema<"Check">;

export type Update = Schema<"LastUpdate">;

export type Updates = Schema<"Updates">;

export type Setting = Schema<"Setting">;

export type Check = Schema<"ShownCheck">;

export type Examination = Schema<"Shown">;

export type Operation = Schema<"Operation">;

export type Drill = Schema<"Drill">;

export type BackupStatus = Schema<"BackupStatus">;

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
