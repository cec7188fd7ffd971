import type { ComponentType } from "preact";
import { Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { to } from "~/state/router";
import { Backups } from "./backups";
import { Doctor } from "./doctor";
import { Hooks } from "./hooks";
import { Logs } from "./logs";
import { Model } from "./model";
import { Network } from "./network";
import { Overview } from "./overview";
import { t } from "./texts";

const TABS = ["overview", "doctor", "model", "backups", "network", "hooks", "logs"] as const;
type Tab = (typeof TABS)[number];

const PARTS: Record<Tab, ComponentType> = {
  overview: Overview,
  doctor: Doctor,
  model: Model,
  backups: Backups,
  network: Network,
  hooks: Hooks,
  logs: Logs,
};

export default function Computer({ rest }: ScreenProps) {
  const tab = TABS.find((name) => name === rest[0]) ?? "overview";
  const Part = PARTS[tab];
  return (
    <Page title={t("title")}>
      <nav class="tabs" aria-label={t("title")}>
        {TABS.map((name) => (
          <a key={name} href={to("computer", [name])} aria-current={name === tab ? "page" : undefined}>
            {t(name)}
          </a>
        ))}
      </nav>
      <Part key={tab} />
    </Page>
  );
}
