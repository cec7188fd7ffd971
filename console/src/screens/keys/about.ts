import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("keys", { title: "Keys and devices" });

export const about: About = { name: "keys", icon: "keys", title: () => titles("title"), order: 40, group: "computer", needs: "" };
