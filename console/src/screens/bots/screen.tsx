import { api } from "~/api/client";
import { Empty, Loaded, Page, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { titles } from "./about";
import { Chats } from "./chats";
import { General } from "./general";
import { type Configuration, type Connector, settingsOf } from "./models";
import { PlatformCard } from "./platform";
import { t } from "./texts";
import { UndeliveredMessages } from "./undelivered";
import { Waiting } from "./waiting";

interface Known {
  connectors: Record<string, Connector>;
  configuration: Configuration;
}

async function load(signal: AbortSignal): Promise<Known> {
  const [{ connectors }, configuration] = await Promise.all([
    api.get("/api/bots/status", { signal }),
    api.get("/api/bots/config", { signal }),
  ]);
  return { connectors, configuration };
}

export default function Bots() {
  const found = useResource(load, "bots", ["bots"]);
  const isOwner = may("bots", "admin");
  return (
    <Page title={titles("title")}>
      <Loaded of={found}>
        {({ connectors, configuration }) => {
          const platforms = Object.entries(connectors);
          const isSetUp = platforms.some(([, connector]) => connector.has_token);
          return (
            <>
              {!isSetUp && <Empty icon="bots" title={t("empty")} text={t("empty_text")} />}
              {isSetUp && <Waiting configuration={configuration} />}
              <Section title={t("messengers")}>
                <div class="bots-platforms">
                  {platforms.map(([platform, connector]) => (
                    <PlatformCard
                      key={platform}
                      platform={platform}
                      connector={connector}
                      settings={settingsOf(configuration, platform)}
                      reload={found.reload}
                    />
                  ))}
                </div>
              </Section>
              {isSetUp && <Chats />}
              <UndeliveredMessages />
              {isSetUp && isOwner && <General configuration={configuration} reload={found.reload} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
