import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("files", { title: "Files" });

export const about: About = { name: "files", icon: "files", title: () => titles("title"), order: 6, group: "daily", needs: "vault" };
