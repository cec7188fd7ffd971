/** The computer's own state as the API has it (docs/doctor.md, docs/backup.md, docs/network.md). */
import type { Schema } from "~/api/client";
import type { Running } from "~/components/restoring/models";

export type Provider = Schema<"ProviderStatus">;

type Repository = Schema<"DecidedRepository">;

/** A decision about a host or about a repository. */
export type Decision = Omit<Repository, "repository" | "access"> & Partial<Pick<Repository, "repository" | "access">> & { host?: string };

export type UpdateCheck = Schema<"RehearsalCheck">;

export type Update = Schema<"LastUpdate">;

export type Updates = Schema<"Updates">;

export type Setting = Schema<"Setting">;

export type Check = Schema<"ShownCheck">;

export type Examination = Schema<"Shown">;

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
