/** One messenger: what its bot is doing, its token, and starting, stopping and setting it up. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Icon } from "~/components/icons";
import { Badge, Facts, Notice } from "~/components/layout";
import { may } from "~/state/session";
import { toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import type { BotSettings, Connector } from "./models";
import { OwnChat } from "./own_chat";
import { SettingsDialog } from "./settings";
import { Setup } from "./setup";
import { about, t } from "./texts";

interface Props {
  platform: string;
  connector: Connector;
  settings: BotSettings;
  reload: () => Promise<void>;
}

function State({ connector }: { connector: Connector }) {
  if (!connector.has_token) return <Badge text={t("state_none")} />;
  if (!connector.enabled) return <Badge text={t("state_off")} />;
  const kind = ({ connected: "good", connecting: "accent", waiting: "warning", refused: "danger", stopped: "danger" } as const)[connector.state];
  return <Badge text={t(`state_${connector.state}`)} kind={kind} />;
}

export function PlatformCard({ platform, connector, settings, reload }: Props) {
  const [dialog, setDialog] = useState<"setup" | "settings" | "own">();
  const params = { platform };
  const { label } = connector;
  const start = async () => {
    await api.post("/api/bots/{platform}/start", { params });
    await reload();
  };
  const stop = async () => {
    await api.post("/api/bots/{platform}/stop", { params });
    await reload();
  };
  const test = async () => {
    const { bot_name } = await api.post("/api/bots/{platform}/test", { params });
    toast(t("works", { name: bot_name ?? "", platform: label }));
  };
  const remove = async () => {
    if (!(await confirm(t("remove_title", { platform: label }), t("remove_text", { platform: label }), t("remove")))) return;
    await api.delete("/api/bots/{platform}/token", { params });
    await reload();
  };
  const heading = `bot-${platform}`;
  const isConnected = connector.enabled && connector.state === "connected";
  const isOwner = may("bots", "admin");
  return (
    <article class="card" aria-labelledby={heading}>
      <header class="card-header">
        <Icon name="bots" />
        <h2 id={heading}>{label}</h2>
        <State connector={connector} />
      </header>
      {connector.enabled && connector.reason && (
        <Notice kind="warning">
          <p>
            <bdi>{said(connector.reason)}</bdi>
          </p>
        </Notice>
      )}
      {connector.has_token ? (
        <Facts
          facts={[
            ...(connector.bot_name ? [[t("bot"), <bdi>{connector.bot_name}</bdi>] as const] : []),
            [
              t("token"),
              <span class="bots-token">
                <span aria-label={t("masked")} role="img">••••••••</span>
                {isOwner && (
                  <>
                    <Button label={t("replace_token", { platform: label })} icon="edit" iconOnly kind="quiet" onPress={() => setDialog("setup")} />
                    <Button label={t("remove_token", { platform: label })} icon="trash" iconOnly kind="quiet" onPress={remove} />
                  </>
                )}
              </span>,
            ],
            [t("new_chats"), t(`template_${settings.template}` as "template_guest")],
            ...(connector.waiting_messages ? [[t("unanswered"), String(connector.waiting_messages)] as const] : []),
          ]}
        />
      ) : (
        <p class="muted">{about(platform, "about")}</p>
      )}
      {isOwner && (
        <footer class="card-actions">
          {!connector.has_token && (
            <Button label={t("set_up", { platform: label })} icon="plus" onPress={() => setDialog("setup")} />
          )}
          {connector.has_token && (
            <>
              <Button label={t("settings_of", { platform: label })} icon="settings" iconOnly kind="quiet" onPress={() => setDialog("settings")} />
              {connector.enabled && <Button label={t("own_chat")} onPress={() => setDialog("own")} />}
              {!isConnected && <Button label={t("test")} onPress={test} />}
              {connector.enabled ? <Button label={t("stop")} onPress={stop} /> : <Button label={t("start")} icon="play" kind="primary" onPress={start} />}
            </>
          )}
        </footer>
      )}
      {dialog === "setup" && <Setup platform={platform} settings={settings} isFirst={!connector.has_token} reload={reload} onClose={() => setDialog(undefined)} />}
      {dialog === "settings" && <SettingsDialog platform={platform} settings={settings} reload={reload} onClose={() => setDialog(undefined)} />}
      {dialog === "own" && <OwnChat platform={platform} onClose={() => setDialog(undefined)} />}
    </article>
  );
}
