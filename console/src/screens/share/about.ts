import type { About } from "~/screens";
import { t } from "./texts";

export const about: About = { name: "share", icon: "upload", title: () => t("title"), order: 90, group: null, needs: "" };
