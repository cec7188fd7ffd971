/** Results that the page knows by itself: commands and screens. */
import { api } from "~/api/client";
import { mayStop, askToStop } from "~/components/panic";
import { askText } from "~/components/prompt";
import { screens } from "~/screens";
import { appearance, isDark } from "~/state/preferences";
import { go, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import type { Found, Group } from "./groups";
import { opened } from "./open";
import { t } from "./texts";

const leadsTo = (address: string) => () => go(address);

/** Results that the page knows by itself: they are there with the letter that is typed. */
export function local(words: string): Partial<Record<Group, Found[]>> {
  return { commands: fitting(commands(words.trim()), words), screens: fitting(allScreens(), words) };
}

function allScreens(): Found[] {
  return screens()
    .filter(({ group }) => group !== null)
    .map(({ name, icon, title }) => ({ id: `screen-${name}`, icon, title: title(), run: leadsTo(to(name)) }));
}

function commands(words: string): Found[] {
  const backUp = async () => {
    await api.post("/api/backups");
    toast(t("backing_up"));
    go(to("computer", ["backups"]));
  };
  const save = async () => {
    const { isPage, savePage } = await import("~/components/save_page");
    const address = isPage(words) ? words : await askText({ title: t("save_page"), label: t("address"), value: "", yes: t("save") });
    if (address?.trim()) await savePage(address.trim());
  };
  const forget = async () => (await import("~/components/forget")).askForget("");
  const other = isDark.value ? "light" : "dark";
  const all: (Found | false)[] = [
    may("chat", "write") && { id: "new", icon: "plus", title: t("new_conversation"), run: leadsTo(to("chat")) },
    may("*", "admin") && { id: "backup", icon: "archive", title: t("back_up"), run: backUp },
    may("vault", "write") && { id: "save", icon: "download", title: t("save_page"), text: words.includes("://") ? words : undefined, run: save },
    may("forget", "admin") && { id: "forget", icon: "trash", title: t("forget"), run: forget },
    mayStop() && { id: "stop", icon: "stop", title: t("stop"), run: askToStop },
    { id: "appearance", icon: "settings", title: t(`appearance_${other}`), run: () => (appearance.value = other) },
    { id: "shortcuts", icon: "list", title: t("shortcuts"), run: () => (opened.value = "shortcuts") },
  ];
  return all.filter((each) => each !== false);
}

/** Return what has all of the words. */
export function fitting(found: Found[], words: string): Found[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return found.filter(({ title, text = "" }) => wanted.every((word) => `${title} ${text}`.toLowerCase().includes(word)));
}
