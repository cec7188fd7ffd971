/** Notices: whether this device is told, what they say, and which devices are told as well. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Choice, Switch } from "~/components/field";
import { Ago, Badge, Loaded, Row, Section } from "~/components/layout";
import { canNotify, needsHomeScreen, notifies, switchNotifications, toldDevice } from "~/state/notifications";
import type { ToldDevice } from "~/state/push";
import { useResource } from "~/state/resource";
import { to } from "~/state/router";
import { may } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

const SAYS = ["waits", "kind", "title"] as const;

export function Told() {
  const found = useResource((signal) => api.get("/api/push", { signal }), "push", ["keys"]);
  const remove = (device: ToldDevice) =>
    attempt(async () => {
      if (device.id === toldDevice.value?.id) await switchNotifications(false);
      else await api.delete("/api/push/devices/{identifier}", { params: { identifier: device.id } });
      await found.reload();
    });
  return (
    <Section title={t("notices")}>
      {canNotify ? <ThisDevice reload={found.reload} /> : <p class="muted">{needsHomeScreen ? t("notify_home_screen") : t("notify_not")}</p>}
      {may("config", "admin") && <Says />}
      <Loaded of={found}>
        {({ devices }) => (
          <ul class="rows">
            {devices.map((device) => (
              <Row
                key={device.id}
                title={<bdi>{device.name}</bdi>}
                badges={
                  <>
                    {device.is_current && <Badge text={t("current")} kind="accent" />}
                    {device.state === "asked" && <Badge text={t("told_asked")} kind="warning" />}
                  </>
                }
                text={<Last device={device} />}
                actions={
                  <>
                    {device.state === "told" && <Button label={t("told_test")} onPress={() => test(device)} />}
                    <Button label={t("told_stop")} onPress={() => remove(device)} />
                  </>
                }
              />
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function ThisDevice({ reload }: { reload: () => Promise<void> }) {
  const [, redraw] = useState(0);
  const notify = async (isOn: boolean) => {
    if (!(await switchNotifications(isOn)) && isOn) toast(t("notify_refused"), { isError: true });
    // The browser has moved the switch already, also where it then refused.
    redraw((count) => count + 1);
    await reload();
  };
  const device = toldDevice.value;
  const hint = !notifies() || device?.state === "told" ? "notify_hint" : device ? "notify_asked" : "notify_open";
  return (
    <>
      <Switch label={t("notify")} hint={t(hint, { service: device?.service ?? "" })} isOn={notifies()} onChange={notify} />
      {device?.state === "asked" && <LinkButton label={t("told_inbox")} icon="inbox" href={to("inbox")} />}
    </>
  );
}

/** The owner's choice for all devices. */
function Says() {
  const found = useResource(
    async (signal) => (await api.get("/api/config", { signal })).settings.find(({ name }) => name === "push.says"),
    "push.says",
    ["settings"],
  );
  const choose = (value: string) =>
    attempt(async () => {
      await api.put("/api/config/{name}", { params: { name: "push.says" }, body: { value } });
      await found.reload();
    });
  const options = SAYS.map((value) => ({ value, label: t(`says_${value}`) }));
  return (
    <Loaded of={found}>
      {(setting) => setting && <Choice label={t("says")} hint={t("says_hint")} value={String(setting.value)} options={options} onChange={choose} />}
    </Loaded>
  );
}

function Last({ device }: { device: ToldDevice }) {
  if (device.problem) return <bdi>{said(device.problem)}</bdi>;
  return (
    <>
      <bdi>{device.service}</bdi> ·{" "}
      {device.said_at ? (
        <>
          {t("told_last")} <Ago time={device.said_at} />
        </>
      ) : (
        t("told_never")
      )}
    </>
  );
}

function test(device: ToldDevice): Promise<void> {
  return attempt(async () => {
    await api.post("/api/push/devices/{identifier}/test", { params: { identifier: device.id } });
    toast(t("told_sent"));
  }) as Promise<void>;
}
