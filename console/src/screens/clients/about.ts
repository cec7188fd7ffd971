import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("clients", { title: "Other assistants" });

export const about: About = { name: "clients", icon: "link", title: () => titles("title"), order: 24, group: "agents", needs: "admin" };
