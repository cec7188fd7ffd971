import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "keys", icon: "keys", title: () => t("title"), order: 40, group: "computer", needs: "" };
