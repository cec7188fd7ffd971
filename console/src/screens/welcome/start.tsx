/** The first choice: a new computer, or what a backup holds. */
import { Button, LinkButton } from "~/components/button";
import { Facts } from "~/components/layout";
import { to } from "~/state/router";
import { finish } from "./end";
import type { Known } from "./models";
import { t } from "./texts";

const NOWHERE = /^(Etc\/)?(UTC|Universal|Zulu|GMT)$/;

export function Start({ setup }: { setup: Known["setup"] }) {
  return (
    <>
      <p>{t("text")}</p>
      <div class="welcome-choices">
        <LinkButton label={t("restore")} icon="archive" href={to("welcome", ["restore"])} />
        <LinkButton label={t("new")} icon="plus" kind="primary" href={to("welcome", ["model"])} />
      </div>
      <Facts
        facts={[
          [t("name"), <bdi>{setup.name ?? setup.hostname}</bdi>],
          [t("address"), <code>{location.origin}</code>],
          [
            t("time_zone"),
            <>
              {setup.time_zone}
              {NOWHERE.test(setup.time_zone) && <small class="welcome-hint">{t("time_zone_hint")}</small>}
            </>,
          ],
          [t("vault"), <code>{setup.vault}</code>],
          [t("version"), setup.version],
        ]}
      />
      <div class="welcome-next">
        <Button label={t("skip_all")} kind="quiet" onPress={finish} />
      </div>
    </>
  );
}
