import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "modules", icon: "modules", title: () => t("title"), order: 33, group: "computer", needs: "modules" };
