import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("share", { title: "Where to?" });

export const about: About = { name: "share", icon: "upload", title: () => titles("title"), order: 90, group: null, needs: "" };
