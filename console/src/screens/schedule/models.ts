/** An agent that works by a schedule, and its runs (docs/scheduled-agents.md). */
import type { Schema } from "~/api/client";

export type Agent = Schema<"ScheduledAgent">;
