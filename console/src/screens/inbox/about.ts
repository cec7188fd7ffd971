import type { About } from "~/screens";
import { messages } from "~/text/messages";

export const titles = messages("inbox", { title: "Waiting for you", short: "Waiting" });

export const about: About = { name: "inbox", icon: "inbox", title: () => titles("title"), short: () => titles("short"), order: 1, group: "daily", needs: "inbox" };
