/** What to type on the computer to restore a backup, and why it cannot be done from here. */
import { Notice } from "~/components/layout";
import { LinkButton } from "~/components/button";
import { to } from "~/state/router";
import { t } from "./texts";

const COMMANDS = `parachute stop
parachute config set backup.repository /media/usb/parachute
mkdir -p -m 700 ~/.parachute/backup
nano ~/.parachute/backup/password
chmod 600 ~/.parachute/backup/password
parachute backup restore --trust
parachute start`;

export function Restore() {
  return (
    <>
      <p>{t("restore_text")}</p>
      <pre class="text-block welcome-commands" tabIndex={0}>
        {COMMANDS}
      </pre>
      <p>{t("restore_lines")}</p>
      <Notice kind="warning">
        <p>{t("restore_trust")}</p>
      </Notice>
      <p class="muted">{t("restore_why")}</p>
      <div class="welcome-next">
        <LinkButton label={t("new_instead")} href={to("welcome", ["model"])} />
      </div>
    </>
  );
}
