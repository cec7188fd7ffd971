/** A code by which the owner shows that a private chat is their own. */
import { api } from "~/api/client";
import { Dialog } from "~/components/dialog";
import { Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { moment } from "~/text/messages";
import { platformName } from "~/text/platforms";
import { t } from "./texts";

export function OwnChat({ platform, onClose }: { platform: string; onClose: () => void }) {
  const made = useResource(() => api.post("/api/bots/{platform}/owner-code", { params: { platform } }), platform);
  return (
    <Dialog title={t("own_chat")} onClose={onClose}>
      <Loaded of={made}>
        {({ command, ends }) => (
          <>
            <p>{t("own_chat_text", { platform: platformName(platform) })}</p>
            <p class="pairing-code bots-own-code">{command}</p>
            <p class="muted">{t("own_chat_until", { time: moment(ends, { timeStyle: "short" }) })}</p>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
