import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("suggestions", { title: "Suggestions" });

export const about: About = { name: "suggestions", icon: "suggestions", title: () => titles("title"), order: 7, group: "daily", needs: "suggestions" };
