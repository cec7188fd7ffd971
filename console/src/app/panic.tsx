/** The kill switch: one tap stops all agents, and another lets them work again. */
import { Button } from "~/components/button";
import { api } from "~/api/client";
import { type Stopped, stopped } from "~/state/kill_switch";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages } from "~/text/messages";

const t = messages({
  en: { stop: "Stop everything", done: "All agents are stopped." },
  de: { stop: "Alles anhalten", done: "Alle Agenten sind angehalten." },
});

export function Panic() {
  if (stopped.value || !may("chat", "write")) return null;
  const stop = async () => {
    stopped.value = (await api.post<{ panic: Stopped }>("/api/panic")).panic;
    toast(t("done"));
  };
  return (
    <div class="panic">
      <Button label={t("stop")} icon="panic" kind="danger" onPress={stop} />
    </div>
  );
}
