import { api } from "~/api/client";
import { LinkButton } from "~/components/button";
import { Ago, Empty, Loaded, Page, Row } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { bytes } from "~/text/messages";
import { titles } from "./about";
import { Client } from "./client";
import { Connect } from "./connect";
import { Consent } from "./consent";
import { t } from "./texts";

export default function Clients({ rest: [first, second] }: ScreenProps) {
  if (first === "consent" && second) return <Consent request={second} />;
  if (first === "connect") return <Connect />;
  return first ? <Client id={first} /> : <List />;
}

function List() {
  const found = useResource((signal) => api.get("/api/mcp-clients", { signal }), "clients", ["keys"]);
  const connect = <LinkButton label={t("connect")} icon="plus" href={to("clients", ["connect"])} />;
  return (
    <Page title={titles("title")} actions={connect}>
      <Loaded of={found}>
        {({ clients }) =>
          clients.length === 0 ? (
            <Empty icon="link" title={t("none")} text={t("none_text")} />
          ) : (
            <ul class="rows">
              {clients.map((client) => (
                <Row
                  key={client.id}
                  href={to("clients", [client.id])}
                  title={<bdi>{client.name}</bdi>}
                  text={
                    <>
                      {client.last_request ? <>{t("last")} <Ago time={client.last_request} /></> : t("never")} ·{" "}
                      {t("today", { bytes: bytes(client.today.bytes), n: client.today.sentences })}
                    </>
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}
