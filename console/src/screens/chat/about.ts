import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "chat", icon: "chat", title: () => t("title"), order: 2, group: "daily", needs: "chat" };
