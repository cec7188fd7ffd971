import { Page, Tabs } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { titles } from "./about";
import { Backups } from "./backups";
import { Doctor } from "./doctor";
import { Hooks } from "./hooks";
import { Logs } from "./logs";
import { Model } from "./model";
import { Network } from "./network";
import { Overview } from "./overview";
import { Settings } from "./settings";
import { t } from "./texts";
import { Updates } from "./updates";

const TABS = ["overview", "doctor", "model", "backups", "updates", "settings", "network", "hooks", "logs"] as const;
type Tab = (typeof TABS)[number];

export default function Computer({ rest, query }: ScreenProps) {
  const tab = TABS.find((name) => name === rest[0]) ?? "overview";
  const search = query.get("search") ?? "";
  return (
    <Page title={titles("title")}>
      <Tabs screen="computer" label={titles("title")} now={tab} tabs={TABS.map((name) => [name, t(name)])} />
      <Part key={`${tab}${search}`} tab={tab} search={search} />
    </Page>
  );
}

function Part({ tab, search }: { tab: Tab; search: string }) {
  switch (tab) {
    case "overview":
      return <Overview />;
    case "doctor":
      return <Doctor />;
    case "model":
      return <Model />;
    case "backups":
      return <Backups />;
    case "updates":
      return <Updates />;
    case "settings":
      return <Settings search={search} />;
    case "network":
      return <Network />;
    case "hooks":
      return <Hooks />;
    case "logs":
      return <Logs />;
  }
}
