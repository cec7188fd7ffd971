import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "workspaces", icon: "workspaces", title: () => t("title"), order: 20, group: "agents", needs: "workspaces" };
