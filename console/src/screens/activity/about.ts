import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("activity", { title: "Activity" });

export const about: About = { name: "activity", icon: "activity", title: () => titles("title"), order: 31, group: "computer", needs: "admin" };
