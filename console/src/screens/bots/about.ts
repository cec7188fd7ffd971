import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "bots", icon: "bots", title: () => t("title"), order: 23, group: "agents", needs: "bots" };
