import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "clients", icon: "link", title: () => t("title"), order: 24, group: "agents", needs: "admin" };
