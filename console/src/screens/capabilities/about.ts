import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "capabilities", icon: "capabilities", title: () => t("title"), order: 21, group: "agents", needs: "agents" };
