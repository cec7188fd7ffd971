/** The emergency kit as the server has it (docs/backup.md). */
import type { Schema } from "~/api/client";

export type Kit = Schema<"ShownKit">;

/** Proof that backups were opened with their kit. */
export interface Protection {
  protected: boolean;
  kit_opened_at: string | null;
}

const TITLE = "Parachute backup kit";

/** Return whether a text is that of a kit, as in its code, and not only a password. */
export function isKit(text: string): boolean {
  return text.trim().startsWith(TITLE);
}

/** A password as the computer makes it, somewhere in the text that was kept with it. */
const MADE = /(?<![\w-])[\w-]{43}(?![\w-])/;

/** The password in what somebody has typed or pasted: the whole text that was kept may be given, or groups as the sheet has them. */
export function passwordIn(text: string): string {
  const found = MADE.exec(text)?.[0];
  const joined = text.replace(/\s+/g, "");
  return found ?? (MADE.exec(joined)?.[0] === joined ? joined : text.trim());
}

/** A password in groups that the eye can follow from paper. */
export function grouped(password: string): string[] {
  return MADE.exec(password)?.[0] === password ? (password.match(/.{1,6}/g) ?? []) : [password];
}
