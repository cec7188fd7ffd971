import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "inbox", icon: "inbox", title: () => t("title"), short: () => t("short"), order: 1, group: "daily", needs: "inbox" };
