import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "schedule", icon: "schedule", title: () => t("title"), order: 22, group: "agents", needs: "scheduler" };
