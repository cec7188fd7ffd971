import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("welcome", { title: "Welcome" });

/** Not in the navigation: a computer that is not set up begins with it (app/current.tsx). */
export const about: About = { name: "welcome", icon: "computer", title: () => titles("title"), order: 99, group: null, needs: "admin" };
