/** Sentences about what was searched, and how much of it was read. */
import type { Answer, Group } from "./groups";
import { t } from "./texts";

type Answers = Partial<Record<Group, Answer>>;

const COUNTED = ["conversations", "journal", "knowledge", "files"] as const;

/** List of what was searched, such as "140 conversations, 88 files"; empty where no search has said that. */
export function placesIn(answers: Answers): string {
  return COUNTED.flatMap((group) => {
    const count = answers[group]?.searched?.count;
    return count === undefined ? [] : [t(`in_${group}`, { n: count })];
  }).join(", ");
}

/** A sentence where the index is not through; it is one index for all of them. */
export function unreadIn(answers: Answers): string {
  const all = COUNTED.flatMap((group) => answers[group]?.searched ?? []);
  const { waiting, total } = all.reduce((most, each) => (each.waiting > most.waiting ? each : most), { count: 0, waiting: 0, total: 0 });
  return waiting > 0 ? t("unread", { read: Math.max(total - waiting, 0), total }) : "";
}
