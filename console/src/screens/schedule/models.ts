/** An agent that works once a day, and its runs, as the API has them (docs/scheduled-agents.md). */
export interface Agent {
  name: string;
  displayName: string;
  description: string;
  module: string;
  schedule: { enabled: boolean; time: string };
  status: string;
  hash: string;
  problem: string | null;
  skips: string | null;
  state: { lastRunAt: string | null; runCount: number };
  lastStatus: string | null;
  lastError: string | null;
  nextRunAt: string | null;
}

export interface Run {
  id: string;
  date: string;
  trigger: string;
  started: string;
  status: string;
  ended: string | null;
  error: string | null;
  output: string | null;
  log: string[];
}
