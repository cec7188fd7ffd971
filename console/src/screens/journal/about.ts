import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "journal", icon: "journal", title: () => t("title"), order: 4, group: "daily", needs: "daily" };
