import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("conversations", { title: "Conversations", short: "History" });

export const about: About = { name: "conversations", icon: "list", title: () => titles("title"), short: () => titles("short"), order: 3, group: "daily", needs: "chat" };
