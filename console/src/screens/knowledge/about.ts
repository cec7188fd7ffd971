import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "knowledge", icon: "knowledge", title: () => t("title"), order: 5, group: "daily", needs: "brain" };
