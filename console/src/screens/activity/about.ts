import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "activity", icon: "activity", title: () => t("title"), order: 31, group: "computer", needs: "admin" };
