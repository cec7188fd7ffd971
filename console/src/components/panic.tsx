/** The kill switch: it stops all agents once somebody has said that it is meant, and another tap lets them work again. */
import { api } from "~/api/client";
import { stopped } from "~/state/kill_switch";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { messages } from "~/text/messages";
import { Button } from "./button";
import { confirm } from "./dialog";

const t = messages({
  en: {
    stop: "Stop everything",
    stop_short: "Stop all",
    sure: "Stop everything?",
    sure_text: "All agents end at once, and nothing is sent, until you tap Resume. What they have done stays.",
    done: "All agents are stopped.",
  },
  de: {
    stop: "Alles anhalten",
    stop_short: "Anhalten",
    sure: "Alles anhalten?",
    sure_text: "Alle Agenten enden sofort, und nichts wird gesendet, bis du auf „Weiter“ tippst. Was sie getan haben, bleibt.",
    done: "Alle Agenten sind angehalten.",
  },
});

/** With `isCompact` it is the one in the heading of a phone, where the column is hidden. */
export function Panic({ isCompact = false }: { isCompact?: boolean }) {
  if (stopped.value || !may("chat", "write")) return null;
  const stop = async () => {
    if (!(await confirm(t("sure"), t("sure_text"), t("stop")))) return;
    stopped.value = (await api.post("/api/panic")).panic;
    toast(t("done"));
  };
  return (
    <div class={isCompact ? "panic compact" : "panic"}>
      <Button label={isCompact ? t("stop_short") : t("stop")} icon="stop" kind="danger" onPress={stop} />
    </div>
  );
}
