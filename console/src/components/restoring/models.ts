/** Requests and models of restoring (docs/backup.md). */
import { api } from "~/api/client";

export interface Backup {
  id: string;
  made_at: string;
  computer: string;
  bytes: number | null;
  own: boolean;
  finished: boolean;
}

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

export interface LastRestore {
  at: string;
  result: "restored" | "failed" | "back";
  backup: string;
  made_at: string;
  computer: string;
  trust: boolean;
  problem: string | null;
  kept: string[];
}

export interface Known {
  status: Status;
  last: LastRestore | null;
}

export async function load(signal: AbortSignal): Promise<Known> {
  const [status, { last }] = await Promise.all([
    api.get<Status>("/api/backups", { signal }),
    api.get<{ last: LastRestore | null }>("/api/backups/restore", { signal }),
  ]);
  return { status, last };
}
