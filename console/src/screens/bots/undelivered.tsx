/** Failed deliveries: tried again, or given up. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Ago, Badge, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { platformName } from "~/text/platforms";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

export function UndeliveredMessages() {
  const found = useResource(
    async (signal) => (await api.get("/api/bots/deliveries", { signal })).messages,
    "deliveries",
    ["bots", "inbox"],
  );
  const retry = async (number: number) => {
    await api.post("/api/bots/deliveries/{number}/retry", { params: { number } });
    await found.reload();
  };
  const discard = async (number: number) => {
    await api.delete("/api/bots/deliveries/{number}", { params: { number } });
    await found.reload();
  };
  if (!found.value?.length) return null;
  return (
    <Section title={t("undelivered")}>
      <ul class="rows">
        {found.value.map((message) => (
          <Row
            key={message.id}
            title={<bdi>{said(message.problem ?? "")}</bdi>}
            badges={<Badge text={platformName(message.platform)} />}
            text={
              <>
                <bdi>{message.text}</bdi> · <Ago time={message.since} />
              </>
            }
            actions={
              may("bots", "admin") && (
                <>
                  <Button label={t("give_up")} onPress={() => discard(message.id)} />
                  <Button label={t("again")} icon="refresh" onPress={() => retry(message.id)} />
                </>
              )
            }
          />
        ))}
      </ul>
    </Section>
  );
}
