import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("modules", { title: "Modules" });

export const about: About = { name: "modules", icon: "modules", title: () => titles("title"), order: 33, group: "computer", needs: "modules" };
