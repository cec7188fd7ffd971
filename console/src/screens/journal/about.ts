import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("journal", { title: "Journal" });

export const about: About = { name: "journal", icon: "journal", title: () => titles("title"), order: 4, group: "daily", needs: "daily" };
