import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("schedule", { title: "Schedule" });

export const about: About = { name: "schedule", icon: "schedule", title: () => titles("title"), order: 22, group: "agents", needs: "scheduler" };
