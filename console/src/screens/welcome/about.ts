import type { About } from "~/screens";
import { t } from "./texts";

/** Not in the navigation: a computer that is not set up begins with it (app/current.tsx). */
export const about: About = { name: "welcome", icon: "computer", title: () => t("title"), order: 99, group: null, needs: "admin" };
