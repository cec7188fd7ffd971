import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "suggestions", icon: "suggestions", title: () => t("title"), order: 7, group: "daily", needs: "suggestions" };
