/** Banners above every screen: everything is stopped, or the computer does not answer. */
import { useEffect } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { watchInbox } from "~/state/inbox";
import { stopped, watchKillSwitch } from "~/state/kill_switch";
import { isConnected } from "~/state/live";
import { watchWaiting } from "~/state/notifications";
import { watchOutbox } from "~/state/outbox";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages, moment } from "~/text/messages";

const t = messages("banners", {
  stopped: "Everything is stopped since {time}. No agent works, and nothing is sent.",
  resume: "Resume",
  resumed: "Agents work again.",
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
  return (
    <div class="banners">
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
