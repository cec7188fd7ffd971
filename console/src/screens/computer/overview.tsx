/** Status of the computer, and stopping or restarting it. */
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Badge, Facts, Loaded, Notice, Section } from "~/components/layout";
import { Panic } from "~/components/panic";
import { stopped } from "~/state/kill_switch";
import { useResource } from "~/state/resource";
import { toast } from "~/state/toasts";
import { number } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

export function Overview() {
  const found = useResource(
    async (signal) => {
      const [status, running] = await Promise.all([
        api.get("/api/status", { signal }),
        api.get("/supervisor/status", { signal }),
      ]);
      return { status, running };
    },
    "overview",
    ["settings", "runs", "panic"],
  );
  return (
    <Loaded of={found}>
      {({ status, running }) => (
        <>
          {status.recovery.map(({ message }) => (
            <Notice key={message} kind="warning">
              <p>{said(message)}</p>
            </Notice>
          ))}
          <Facts
            facts={[
              [t("version"), status.version],
              [t("uptime"), running.main_server_uptime_seconds === null ? t("not_yet") : duration(running.main_server_uptime_seconds)],
              [t("provider"), <bdi>{status.provider.provider ? t(`provider_${status.provider.provider}` as "provider_offline") : said(status.provider.because)}</bdi>],
              [t("sandbox"), <Sandbox of={status.sandbox} />],
              [t("conversations"), status.sessions.active ? t("conversations_now", { total: number(status.sessions.total), n: status.sessions.active }) : number(status.sessions.total)],
              [t("memory"), status.memory.on ? t("on") : <bdi>{status.memory.reason ? said(status.memory.reason) : t("off")}</bdi>],
              [t("vault"), <bdi>{status.vault}</bdi>],
              [t("port"), String(status.port)],
            ]}
          />
          {running.not_enforced.length > 0 && (
            <Notice kind="warning">
              <p>{t("not_enforced", { what: running.not_enforced.map((each) => said(each)).join(", ") })}</p>
            </Notice>
          )}
          <Section title={t("stop_title")}>
            <p>{stopped.value ? t("is_stopped") : t("stop_text")}</p>
            <div class="computer-line">{stopped.value ? <Resume /> : <Panic />}</div>
          </Section>
          <Section title={t("restart_title")}>
            <p>{t("restart_text")}</p>
            <div class="computer-line">
              <Button label={t("restart")} icon="refresh" onPress={restart} />
            </div>
          </Section>
        </>
      )}
    </Loaded>
  );
}

function Sandbox({ of: { engine, reason, required } }: { of: Schema<"ComputerStatus">["sandbox"] }) {
  return (
    <>
      <bdi>{engine ?? (reason ? said(reason) : t("no_sandbox"))}</bdi> {!engine && <Badge text={required ? t("agents_wait") : t("agents_direct")} kind="warning" />}
    </>
  );
}

function Resume() {
  const resume = async () => {
    await api.post("/api/resume");
    stopped.value = null;
    toast(t("resumed"));
  };
  return <Button label={t("resume")} icon="play" kind="primary" onPress={resume} />;
}

/** Restart the server, once its owner has agreed that answers under way end. */
export async function restart(): Promise<void> {
  if (!(await confirm(t("restart_title"), t("restart_ask"), t("restart"), "primary"))) return;
  await api.post("/supervisor/server/restart");
  toast(t("restarting"));
}

const UNITS: [Intl.NumberFormatOptions["unit"] & string, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

function duration(seconds: number): string {
  const parts = UNITS.filter(([, length]) => seconds >= length).slice(0, 2);
  const shown = parts.map(([unit, length], index) => {
    const rest = index === 0 ? seconds : seconds % (parts[0]?.[1] ?? 1);
    return number(Math.floor(rest / length), { style: "unit", unit, unitDisplay: "long" });
  });
  return shown.join(" ") || t("less_than_a_minute");
}
