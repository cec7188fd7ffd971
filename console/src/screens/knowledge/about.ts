import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("knowledge", { title: "Knowledge" });

export const about: About = { name: "knowledge", icon: "knowledge", title: () => titles("title"), order: 5, group: "daily", needs: "brain" };
