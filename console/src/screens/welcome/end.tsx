/** The end of set-up: what was done and what was not, and on to the first conversation. */
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Badge, Row } from "~/components/layout";
import { go, to } from "~/state/router";
import { endFirst } from "~/state/session";
import { isDone, type Known, STEPS } from "./models";
import { t } from "./texts";

/** Set-up is over, whatever of it was skipped: it is not shown by itself again. */
export async function finish(): Promise<void> {
  await api.post("/api/setup/finish");
  await endFirst();
  go(to("chat"), { replace: true });
}

export function End({ known }: { known: Known }) {
  return (
    <>
      <p>{t("end_text")}</p>
      <ul class="rows">
        {STEPS.map((step) => (
          <Row
            key={step}
            title={t(`${step}_short`)}
            href={to("welcome", [step])}
            badges={isDone(step, known) ? <Badge text={t("done")} kind="good" /> : <Badge text={t("later")} />}
          />
        ))}
      </ul>
      <div class="welcome-next">
        <Button label={t("finish")} kind="primary" onPress={finish} />
      </div>
    </>
  );
}
