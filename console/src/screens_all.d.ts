/** Modules that build.mjs makes from the folders of `screens/`. */
declare module "screens:all" {
  import type { Screen } from "~/screens";
  export const SCREENS: Screen[];
}

declare module "screens:cards" {
  import type { Card } from "~/screens/inbox/card";
  export const CARDS: Record<string, Card>;
}
