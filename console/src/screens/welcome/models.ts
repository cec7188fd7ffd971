/** State of a computer during set-up, and the steps of set-up. */
import { signal } from "@preact/signals";
import { api, type Schema } from "~/api/client";
import { type Resource, useResource } from "~/state/resource";

export const STEPS = ["model", "modules", "phone", "backup"] as const;

export type StepName = (typeof STEPS)[number];

export type Backups = Schema<"BackupStatus">;

export interface Known {
  setup: Schema<"Setup">;
  /** Names of the modules that are installed. */
  modules: string[];
  /** Names of the browsers and keys that another device has used. */
  devices: string[];
  backups: Backups;
}

export interface StepProps {
  known: Known;
  reload: () => Promise<void>;
}

export interface PartProps extends StepProps {
  /** All of the step is done: the next one is shown. */
  onDone: () => void;
}

/** The answer of the model that was tried last. */
export const answered = signal<{ model: string; text: string } | undefined>(undefined);

async function load(signal: AbortSignal): Promise<Known> {
  const [setup, { modules }, { sessions }, { keys }, backups] = await Promise.all([
    api.get("/api/setup", { signal }),
    api.get("/api/modules", { signal }),
    api.get("/api/pairing/sessions", { signal }),
    api.get("/api/auth/keys", { signal }),
    api.get("/api/backups", { signal }),
  ]);
  const devices = [
    ...sessions.filter(({ is_elsewhere: isElsewhere }) => isElsewhere).map(({ name }) => name),
    ...keys.filter(({ is_elsewhere: isElsewhere }) => isElsewhere).map(({ label }) => label),
  ];
  return { setup, modules: modules.map(({ name }) => name), devices, backups };
}

export function useKnown(): Resource<Known> {
  return useResource(load, "known", ["keys", "modules", "backups", "settings"]);
}

/** Return whether a step has nothing left to do. */
export function isDone(step: StepName, { setup, modules, devices, backups }: Known): boolean {
  return {
    model: setup.model_chosen,
    modules: modules.length > 0,
    phone: devices.length > 0,
    backup: backups.configured && backups.protected,
  }[step];
}

/** A name as a title: the modules that come with the computer are named in small letters. */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
