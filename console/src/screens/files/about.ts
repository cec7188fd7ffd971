import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "files", icon: "files", title: () => t("title"), order: 6, group: "daily", needs: "vault" };
