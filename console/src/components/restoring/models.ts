/** Requests and models of restoring (docs/backup.md). */
import { api, type Schema } from "~/api/client";

export type Backup = Schema<"Backup">;

export type Running = Schema<"Job">;

export type LastRestore = Schema<"LastRestore">;

export interface Known {
  status: Schema<"BackupStatus">;
  last: LastRestore | null;
}

export async function load(signal: AbortSignal): Promise<Known> {
  const [status, { last }] = await Promise.all([
    api.get("/api/backups", { signal }),
    api.get("/api/backups/restore", { signal }),
  ]);
  return { status, last };
}
