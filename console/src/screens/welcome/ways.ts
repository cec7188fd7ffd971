/** The ways through set-up: on to the next step, and from the last one to the first conversation. */
import { signal } from "@preact/signals";
import { api } from "~/api/client";
import { go, place, to } from "~/state/router";
import { endFirst } from "~/state/session";
import { toast } from "~/state/toasts";
import { STEPS, type StepName } from "./models";
import { t } from "./texts";

/** Set-up is over, whatever of it was skipped: it is not shown by itself again. */
export async function finish(hasSkipped: boolean): Promise<void> {
  await api.post("/api/setup/finish");
  await endFirst();
  go(to("chat"), { replace: true });
  if (hasSkipped) toast(t("end_text"));
}

/** The step that came by itself: a finger that was on its way to the one before does nothing there yet. */
export const broughtTo = signal<StepName | undefined>(undefined);

/** Go to the next step; whoever went elsewhere while this one was being done stays there. */
export function goOn(step: StepName): void {
  const { screen, rest } = place.value;
  const next = STEPS[STEPS.indexOf(step) + 1];
  if (next && screen === "welcome" && (rest[0] ?? STEPS[0]) === step) {
    broughtTo.value = next;
    go(to("welcome", [next]));
  }
}
