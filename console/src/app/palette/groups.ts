/** Kinds of hits, in the order in which they are shown. */
import type { IconName } from "~/components/icons";

export const GROUPS = ["commands", "screens", "conversations", "journal", "knowledge", "files", "settings"] as const;
export type Group = (typeof GROUPS)[number];
/** Before a word is typed. */
export const FIRST: readonly Group[] = ["conversations", "commands", "screens"];

export interface Found {
  id: string;
  icon: IconName;
  title: string;
  text?: string;
  /** True where it has none of the words. */
  isByMeaning?: boolean;
  run: () => unknown;
}

/** Numbers of what a search looked through; `waiting` of `total` texts are not read by the index yet. */
export interface Searched {
  count: number;
  waiting: number;
  total: number;
}

export interface Answer {
  found: Found[];
  searched?: Searched | null;
}
