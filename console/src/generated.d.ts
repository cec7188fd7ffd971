/** Modules that build.mjs makes from the folders of `screens/` and the files of `languages/`. */
declare module "screens:all" {
  import type { Screen } from "~/screens";
  export const SCREENS: Screen[];
}

declare module "screens:cards" {
  import type { Card } from "~/screens/inbox/card";
  export const CARDS: Record<string, Card>;
}

declare module "languages:all" {
  type Loaded<T> = () => Promise<{ default: T }>;
  export const LANGUAGES: Record<string, { texts: Loaded<Record<string, Record<string, string>>>; sentences: Loaded<[string, string][]> }>;
}
