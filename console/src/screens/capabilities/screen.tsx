import type { ComponentType } from "preact";
import { Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { to } from "~/state/router";
import { Agents } from "./agents";
import { Mcps } from "./mcps";
import { Plugins } from "./plugins";
import { Skills } from "./skills";
import { t } from "./texts";

const TABS = ["plugins", "agents", "skills", "mcps"] as const;
type Tab = (typeof TABS)[number];

const PARTS: Record<Tab, ComponentType> = { plugins: Plugins, agents: Agents, skills: Skills, mcps: Mcps };

export default function Capabilities({ rest }: ScreenProps) {
  const tab = TABS.find((name) => name === rest[0]) ?? "plugins";
  const Part = PARTS[tab];
  return (
    <Page title={t("title")}>
      <nav class="tabs" aria-label={t("title")}>
        {TABS.map((name) => (
          <a key={name} href={to("capabilities", [name])} aria-current={name === tab ? "page" : undefined}>
            {t(name)}
          </a>
        ))}
      </nav>
      <Part />
    </Page>
  );
}
