import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("capabilities", { title: "Capabilities" });

export const about: About = { name: "capabilities", icon: "capabilities", title: () => titles("title"), order: 21, group: "agents", needs: "agents" };
