import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("computer", { title: "Computer" });

export const about: About = { name: "computer", icon: "computer", title: () => titles("title"), order: 41, group: "computer", needs: "admin" };
