/** Models of costs, and the names of their subjects. */
import { t } from "./texts";

export interface Used {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  cache_write_tokens: number;
  cache_read_tokens: number;
  dollars: number;
}

export interface Limit {
  subject: string;
  per: "day" | "month";
  dollars: number | null;
  tokens: number | null;
  used: Used;
}

export function tokensOf(used: Used): number {
  return used.input_tokens + used.output_tokens;
}

/** The name of a subject (docs/costs.md) for a person. */
export function subjectName(subject: string): string {
  const [kind = "", name = ""] = subject.split(":", 2);
  const known = ["chats", "computer", "questions", "guests", "workspace", "module", "hook"].includes(kind);
  return known ? t(kind as "workspace", { name }) : subject;
}
