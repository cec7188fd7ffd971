import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("bots", { title: "Bots" });

export const about: About = { name: "bots", icon: "bots", title: () => titles("title"), order: 23, group: "agents", needs: "bots" };
