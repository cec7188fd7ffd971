import type { ComponentType } from "preact";
import { Page, Tabs } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { titles } from "./about";
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
    <Page title={titles("title")}>
      <Tabs screen="capabilities" label={titles("title")} now={tab} tabs={TABS.map((name) => [name, t(name)])} />
      <Part />
    </Page>
  );
}
