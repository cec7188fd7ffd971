import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("chat", { title: "Chat" });

export const about: About = { name: "chat", icon: "chat", title: () => titles("title"), order: 2, group: "daily", needs: "chat" };
