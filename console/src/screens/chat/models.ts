/** A conversation as it is shown, and as it begins. */
import type { Schema } from "~/api/client";

type Shown = "id" | "title" | "agentPath" | "agentName" | "trustLevel" | "effectiveExecutionMode" | "workspaceId" | "workingDirectory";

/** The fields of a session that are shown; of one that has just begun no more is known. */
export type Session = Pick<Schema<"ShownSession">, Shown | "model" | "archived" | "source" | "continuedFrom"> & Partial<Pick<Schema<"ShownSession">, "metadata">>;

/** Settings with which a new conversation begins. */
export interface Beginning {
  workspaceId?: string;
  model?: string;
  agentPath?: string;
  trustLevel?: string;
  workingDirectory?: string;
  contexts?: string[];
  /** A branch of another conversation, which begins with what was said before one of its messages. */
  continuedFrom?: string;
  continuedBefore?: string;
}
