import { api } from "~/api/client";
import { Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { useResource } from "~/state/resource";
import { titles as named } from "./about";
import { ActivityGraph } from "./graph";
import { Records } from "./records";
import type { Titles } from "./sentences";
import { t } from "./texts";

const MOST = 500;

async function load(signal: AbortSignal): Promise<Titles> {
  const { sessions } = await api.get("/api/chat", { query: { limit: MOST }, signal });
  return new Map(sessions.map(({ id, title }) => [id, title ?? ""]));
}

export default function Activity({ query }: ScreenProps) {
  const titles = useResource(load, "titles", ["sessions"]).value ?? new Map<string, string>();
  return (
    <Page title={named("title")} isWide>
      <Records session={query.get("session") ?? undefined} titles={titles} />
      <details class="fold">
        <summary>{t("graph")}</summary>
        <div class="section">
          <ActivityGraph titles={titles} />
        </div>
      </details>
    </Page>
  );
}
