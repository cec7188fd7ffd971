import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("costs", { title: "Costs" });

export const about: About = { name: "costs", icon: "costs", title: () => titles("title"), order: 32, group: "computer", needs: "usage" };
