/** An agent that works once a day, and its runs (docs/scheduled-agents.md). */
import type { Schema } from "~/api/client";

export type Agent = Schema<"ScheduledAgent">;
