import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "computer", icon: "computer", title: () => t("title"), order: 41, group: "computer", needs: "admin" };
