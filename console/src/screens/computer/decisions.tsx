/** Hosts or repositories that the owner allowed or refused for good, each of which can be asked about again. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Ago, Badge, Row } from "~/components/layout";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { callerName } from "~/text/callers";
import type { Decision } from "./models";
import { t } from "./texts";

export function Decisions({ decisions, reload }: { decisions: Decision[]; reload: () => Promise<void> }) {
  const forget = async ({ host, repository, workspace }: Decision) => {
    if (host) await api.delete("/api/network/decisions", { query: { host, workspace } });
    else await api.delete("/api/git/decisions", { query: { repository, workspace } });
    toast(t("asked_again", { name: host ?? repository ?? "" }));
    await reload();
  };
  return (
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
                <bdi>{callerName(decision.decided_by)}</bdi>
                {" · "}
                <Ago time={decision.decided_at} />
              </>
            }
            actions={
              may(decision.host ? "network" : "git", "admin") && (
                <Button label={t("take_back")} icon="undo" onPress={() => forget(decision)} />
              )
            }
          />
        );
      })}
    </ul>
  );
}
