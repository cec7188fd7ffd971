/** The kill switch: held for a second, or pressed a second time, it stops all agents. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { stopped } from "~/state/kill_switch";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { messages } from "~/text/messages";
import { confirm } from "./dialog";
import { Icon } from "./icons";
import { useId } from "./ids";

const t = messages("panic", {
  stop: "Stop everything",
  stop_short: "Stop all",
  now: "Stop now",
  hold: "Hold the button for a second, or press it again.",
  sure: "Stop everything?",
  sure_text: "All agents stop at once, and nothing is sent, until you tap Resume. What they did stays.",
  done: "All agents are stopped.",
});

/** As long as its style shows, in milliseconds. */
const HOLD = 1000;
/** A second press that comes sooner was part of the first. */
const SHORTEST = 400;
const ASKED = 6000;

async function stop(): Promise<void> {
  stopped.value = (await api.post("/api/panic")).panic;
  toast(t("done"));
}

export const mayStop = () => !stopped.value && may("chat", "write");

/** Stop all agents, once the person has said that it is meant. */
export async function askToStop(): Promise<void> {
  if (await confirm(t("sure"), t("sure_text"), t("stop"))) await stop();
}

/** With `isCompact` it is the one in the heading of a phone, where the column is hidden. */
export function Panic({ isCompact = false }: { isCompact?: boolean }) {
  const [isHeld, setHeld] = useState(false);
  const [asked, setAsked] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hint = useId();
  useEffect(() => {
    if (!asked) return;
    const end = setTimeout(() => setAsked(0), ASKED);
    return () => clearTimeout(end);
  }, [asked]);
  const release = () => {
    clearTimeout(timer.current);
    setHeld(false);
  };
  useEffect(() => release, []);
  if (!mayStop()) return null;
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    setHeld(true);
    timer.current = setTimeout(() => void attempt(stop).then(release), HOLD);
  };
  const click = () => {
    if (!asked) setAsked(performance.now());
    else if (performance.now() - asked > SHORTEST) void attempt(stop);
  };
  return (
    <div class={isCompact ? "panic compact" : "panic"}>
      <button
        type="button"
        class={`button${isHeld ? " held" : ""}`}
        aria-describedby={asked ? hint : undefined}
        onPointerDown={press}
        onPointerUp={release}
        onPointerLeave={release}
        onPointerCancel={release}
        onContextMenu={(event) => event.preventDefault()}
        // A key that is held repeats, which is no second press.
        onKeyDown={(event) => event.repeat && event.preventDefault()}
        onClick={click}
        onBlur={() => setAsked(0)}
      >
        <Icon name="stop" />
        <span>{asked ? t("now") : isCompact ? t("stop_short") : t("stop")}</span>
      </button>
      <span id={hint} class={asked ? "panic-hint" : "visually-hidden"} role="status">
        {asked ? t("hold") : ""}
      </span>
    </div>
  );
}
