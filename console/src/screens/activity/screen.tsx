import { Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { ActivityGraph } from "./graph";
import { Records } from "./records";
import { t } from "./texts";

export default function Activity({ query }: ScreenProps) {
  return (
    <Page title={t("title")} isWide>
      <ActivityGraph />
      <Records session={query.get("session") ?? undefined} />
    </Page>
  );
}
