import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "costs", icon: "costs", title: () => t("title"), order: 32, group: "computer", needs: "usage" };
