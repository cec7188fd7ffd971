/** The first screen: the model, which is all that a new computer needs, or what a backup holds. */
import { Button, LinkButton } from "~/components/button";
import { Facts, Section } from "~/components/layout";
import { to } from "~/state/router";
import { isDone, type StepProps } from "./models";
import { ModelStep } from "./model";
import { t } from "./texts";
import { finish, goOn } from "./ways";

const NOWHERE = /^(Etc\/)?(UTC|Universal|Zulu|GMT)$/;

export function Start({ known, reload }: StepProps) {
  const { setup } = known;
  const isReady = isDone("model", known);
  return (
    <>
      <p>{t("text")}</p>
      <div class="welcome-choices">
        <LinkButton label={t("restore")} icon="archive" href={to("welcome", ["restore"])} />
      </div>
      <Section title={t("model")}>
        <p>{t("model_text")}</p>
        <ModelStep known={known} reload={reload} onDone={() => goOn("model")} />
        <div class="welcome-next">
          <LinkButton label={t(isReady ? "next" : "skip")} href={to("welcome", ["modules"])} />
        </div>
      </Section>
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
        <Button label={t("skip_all")} kind="quiet" onPress={() => finish(true)} />
      </div>
    </>
  );
}
