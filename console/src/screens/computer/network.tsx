/** Hosts and repositories that the owner allowed or refused for good, each of which can be asked about again. */
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Ago, Badge, Empty, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { toast } from "~/state/toasts";
import type { Decision } from "./models";
import { t } from "./texts";

export function Network() {
  const found = useResource(
    async (signal) => {
      const [hosts, repositories] = await Promise.all([
        api.get<{ decisions: Decision[] }>("/api/network/decisions", { signal }),
        api.get<{ decisions: Decision[] }>("/api/git/decisions", { signal }),
      ]);
      return { hosts: hosts.decisions, repositories: repositories.decisions };
    },
    "decisions",
    ["network"],
  );
  return (
    <Loaded of={found}>
      {({ hosts, repositories }) =>
        hosts.length + repositories.length === 0 ? (
          <Empty icon="link" title={t("no_decisions")} text={t("no_decisions_text")}>
            <LinkButton label={t("inbox")} kind="primary" icon="inbox" href={to("inbox")} />
          </Empty>
        ) : (
          <>
            {hosts.length > 0 && <Decisions title={t("hosts")} decisions={hosts} reload={found.reload} />}
            {repositories.length > 0 && <Decisions title={t("repositories")} decisions={repositories} reload={found.reload} />}
          </>
        )
      }
    </Loaded>
  );
}

function Decisions({ title, decisions, reload }: { title: string; decisions: Decision[]; reload: () => Promise<void> }) {
  const forget = async ({ host, repository, workspace }: Decision) => {
    if (host) await api.delete("/api/network/decisions", { query: { host, workspace } });
    else await api.delete("/api/git/decisions", { query: { repository, workspace } });
    toast(t("asked_again", { name: host ?? repository ?? "" }));
    await reload();
  };
  return (
    <Section title={title}>
      <ul class="rows">
        {decisions.map((decision) => {
          const name = decision.host ?? decision.repository ?? "";
          return (
            <Row
              key={`${decision.workspace}/${name}/${decision.access}`}
              title={<bdi>{name}</bdi>}
              badges={
                <>
                  <Badge text={t(decision.choice)} kind={decision.choice === "always" ? "good" : "danger"} />
                  {decision.access && <Badge text={t(decision.access)} />}
                </>
              }
              text={
                <>
                  <bdi>{decision.workspace ?? t("without_workspace")}</bdi>
                  {" · "}
                  <bdi>{decision.decided_by}</bdi>
                  {" · "}
                  <Ago time={decision.decided_at} />
                </>
              }
              actions={<Button label={t("take_back")} icon="undo" onPress={() => forget(decision)} />}
            />
          );
        })}
      </ul>
    </Section>
  );
}
