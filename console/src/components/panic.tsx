/** The kill switch: one tap stops all agents, and another lets them work again. */
import { api } from "~/api/client";
import { type Stopped, stopped } from "~/state/kill_switch";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages } from "~/text/messages";
import { Button } from "./button";

const t = messages({
  en: { stop: "Stop everything", done: "All agents are stopped." },
  de: { stop: "Alles anhalten", done: "Alle Agenten sind angehalten." },
});

/** With `isCompact` it is the one in the heading of a phone, where the column is hidden. */
export function Panic({ isCompact = false }: { isCompact?: boolean }) {
  if (stopped.value || !may("chat", "write")) return null;
  const stop = async () => {
    stopped.value = (await api.post<{ panic: Stopped }>("/api/panic")).panic;
    toast(t("done"));
  };
  return (
    <div class={isCompact ? "panic compact" : "panic"}>
      <Button label={t("stop")} icon="panic" kind="danger" iconOnly={isCompact} onPress={stop} />
    </div>
  );
}
