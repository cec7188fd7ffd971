/** A computer that takes over what a backup holds, and where it leads then. */
import { LinkButton } from "~/components/button";
import { Notice } from "~/components/layout";
import { Restoring } from "~/components/restoring/restoring";
import { to } from "~/state/router";
import { t } from "./texts";

export function Restore() {
  return (
    <Restoring isFresh next={(trust) => <Next trust={trust} />} otherwise={<Instead />}>
      <p>{t("restore_text")}</p>
    </Restoring>
  );
}

function Instead() {
  return (
    <div class="welcome-next">
      <LinkButton label={t("new_instead")} kind="quiet" href={to("welcome", ["model"])} />
    </div>
  );
}

/** With its keys the computer is set up; without them set-up goes on. */
function Next({ trust }: { trust: boolean }) {
  return trust ? (
    <>
      <Notice>
        <p>{t("restored_next")}</p>
      </Notice>
      <div class="buttons">
        <LinkButton label={t("keys")} href={to("keys")} />
        <LinkButton label={t("go_on")} kind="primary" href={to("inbox")} />
      </div>
    </>
  ) : (
    <div class="buttons">
      <LinkButton label={t("go_on_setup")} kind="primary" href={to("welcome", ["model"])} />
    </div>
  );
}
