/** The computer's own state as the API has it (docs/doctor.md, docs/backup.md, docs/network.md). */
import type { Schema } from "~/api/client";

export type Provider = Schema<"ProviderStatus">;

type Repository = Schema<"DecidedRepository">;

/** A decision about a host or about a repository. */
export type Decision = Omit<Repository, "repository" | "access"> & Partial<Pick<Repository, "repository" | "access">> & { host?: string };

export type UpdateCheck = Schema<"Check">;

export type Update = Schema<"LastUpdate">;

export type Updates = Schema<"Updates">;

export type Setting = Schema<"Setting">;

export type AllSettings = Schema<"AllSettings">;

export type Check = Schema<"ShownCheck">;

export type Examination = Schema<"Shown">;

export type Operation = Schema<"Operation">;

export type Drill = Schema<"Drill">;

export type BackupStatus = Schema<"BackupStatus">;
