/** The screens: a folder each in `screens/`, with `about.ts` for the navigation and `screen.tsx`, which is loaded when it is opened. */
import type { ComponentType } from "preact";
import { SCREENS } from "screens:all";
import type { IconName } from "./components/icons";
import { may } from "./state/session";

export interface About {
  /** The name of its folder, and the first word of its address. */
  name: string;
  icon: IconName;
  /** Its title, in the language of now. */
  title: () => string;
  /** A shorter one for the bar of a phone, where the title is too long for it. */
  short?: () => string;
  /** Position among the others; the first four are in the bar of a phone as well. */
  order: number;
  /** Heading of the navigation under which it stands; null for one that is not in it. */
  group: "daily" | "agents" | "computer" | null;
  /** Part that a key must be able to read for it to be shown, such as `chat`; `admin` for the owner alone, nothing for everyone. */
  needs: string;
}

export interface ScreenProps {
  /** Segments of the address behind the screen's name. */
  rest: string[];
  query: URLSearchParams;
}

export type Screen = About & { load: () => Promise<{ default: ComponentType<ScreenProps> }> };

/** All screens that the session may see, in the order of the navigation. */
export function screens(): Screen[] {
  const allowed = SCREENS.filter(({ needs }) => !needs || (needs === "admin" ? may("*", "admin") : may(needs)));
  return allowed.sort((one, other) => one.order - other.order);
}
