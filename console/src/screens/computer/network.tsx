/** Network of conversations: hosts, repositories, and the tokens of git hosts. */
import { api } from "~/api/client";
import { LinkButton } from "~/components/button";
import { Loaded, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { Decisions } from "./decisions";
import { Repositories } from "./repositories";
import { t } from "./texts";
import { Tokens } from "./tokens";

export function Network() {
  const found = useResource(
    async (signal) => (await api.get("/api/network/decisions", { signal })).decisions,
    "hosts",
    ["network"],
  );
  return (
    <>
      <Section title={t("hosts")}>
        <Loaded of={found}>
          {(hosts) =>
            hosts.length > 0 ? (
              <Decisions decisions={hosts} reload={found.reload} />
            ) : (
              <>
                <p class="muted">{t("no_hosts")}</p>
                <LinkButton label={t("inbox")} icon="inbox" href={to("inbox")} />
              </>
            )
          }
        </Loaded>
      </Section>
      {may("git") && <Repositories />}
      {may("git", "admin") && <Tokens />}
    </>
  );
}
