import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "conversations", icon: "list", title: () => t("title"), short: () => t("short"), order: 3, group: "daily", needs: "chat" };
