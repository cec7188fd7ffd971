/** Banners above every screen: everything is stopped, or the computer does not answer. */
import { useEffect } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { watchInbox } from "~/state/inbox";
import { letters } from "~/state/letters";
import { stopped, watchKillSwitch } from "~/state/kill_switch";
import { isConnected } from "~/state/live";
import { watchWaiting } from "~/state/notifications";
import { watchOutbox } from "~/state/outbox";
import { place, to } from "~/state/router";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages, moment } from "~/text/messages";

const t = messages("banners", {
  stopped: "Everything is stopped since {time}. No agent works, and nothing is sent.",
  resume: "Resume",
  resumed: "Agents work again.",
  shared: "What you have shared waits on this device.",
  shared_where: "Say where it goes",
  away: "The computer does not answer. You see what was loaded last.",
});

export function Banners() {
  useEffect(watchInbox, []);
  useEffect(watchKillSwitch, []);
  useEffect(watchWaiting, []);
  useEffect(watchOutbox, []);
  const resume = async () => {
    await api.post("/api/resume");
    stopped.value = null;
    toast(t("resumed"));
  };
  const waits = place.value.screen !== "share" && !place.value.query.has("shared") && letters.value.some(({ kind }) => kind === "shared");
  return (
    <div class="banners">
      {waits && (
        <div class="banner warning" role="status">
          <Icon name="upload" />
          <p>
            {t("shared")} <a href={to("share")}>{t("shared_where")}</a>
          </p>
        </div>
      )}
      {!isConnected.value && (
        <div class="banner warning" role="status">
          <Icon name="warning" />
          <p>{t("away")}</p>
        </div>
      )}
      {stopped.value && (
        <div class="banner danger" role="alert">
          <Icon name="panic" />
          <p>{t("stopped", { time: moment(stopped.value.since, { timeStyle: "short", dateStyle: "short" }) })}</p>
          {may("*", "admin") && <Button label={t("resume")} icon="play" onPress={resume} />}
        </div>
      )}
    </div>
  );
}
