import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("workspaces", { title: "Workspaces" });

export const about: About = { name: "workspaces", icon: "workspaces", title: () => titles("title"), order: 20, group: "agents", needs: "workspaces" };
