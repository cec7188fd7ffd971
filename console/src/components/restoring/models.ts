/** Requests and models of restoring (docs/backup.md). */
import { api, type Schema } from "~/api/client";

export type Backup = Schema<"Backup">;

export interface Running {
  kind: "create" | "drill" | "restore";
  since: string;
  step: string | null;
  part: number | null;
}

interface Status {
  configured: boolean;
  repository: string | null;
  running: Running | null;
  problem: string | null;
}

export type LastRestore = Schema<"LastRestore">;

export interface Known {
  status: Status;
  last: LastRestore | null;
}

export async function load(signal: AbortSignal): Promise<Known> {
  const [status, { last }] = await Promise.all([
    api.get<Status>("/api/backups", { signal }),
    api.get("/api/backups/restore", { signal }),
  ]);
  return { status, last };
}
