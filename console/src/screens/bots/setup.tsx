/** Setting a bot up: getting a token, keeping it, seeing whose it is, and starting. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Failure, Notice } from "~/components/layout";
import { attempt } from "~/state/toasts";
import { platformName } from "~/text/platforms";
import type { BotSettings } from "./models";
import { about, t } from "./texts";

const STEPS = ["1", "2", "3", "4"];

interface Props {
  platform: string;
  settings: BotSettings;
  isFirst: boolean;
  reload: () => Promise<void>;
  onClose: () => void;
}

export function Setup({ platform, settings, isFirst, reload, onClose }: Props) {
  const [token, setToken] = useState("");
  const [address, setAddress] = useState(settings.homeserver_url ?? "");
  const [user, setUser] = useState(settings.user_id ?? "");
  const [problem, setProblem] = useState<unknown>();
  const [name, setName] = useState<string>();
  // Also once a wrong one is kept.
  const [title] = useState(isFirst ? t("set_up", { platform: platformName(platform) }) : t("replace_token", { platform: platformName(platform) }));
  const params = { platform };
  const hasServer = settings.homeserver_url !== undefined;
  const hint = about(platform, "then");
  const check = async () => {
    setProblem(undefined);
    try {
      if (hasServer) await api.put("/api/bots/config", { body: { [platform]: { homeserver_url: address, user_id: user } } });
      await api.put("/api/bots/{platform}/token", { params, body: { token } });
      setToken("");
      const found = await api.post("/api/bots/{platform}/test", { params });
      setName(found.bot_name ?? undefined);
    } catch (error) {
      setProblem(error);
    }
    await reload();
  };
  const start = () =>
    attempt(async () => {
      await api.post("/api/bots/{platform}/start", { params });
      await reload();
      onClose();
    });
  if (name !== undefined) {
    return (
      <Dialog title={title} onClose={onClose} actions={<Button label={t("start_bot")} icon="play" kind="primary" onPress={start} />}>
        <Notice kind="good">
          <p>{t("found", { name })}</p>
        </Notice>
        <p>{t("then")}</p>
        {hint && <p class="muted">{hint}</p>}
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <ol class="bots-steps">
        {STEPS.map((step) => about(platform, step))
          .filter((text) => text)
          .map((text) => (
            <li key={text}>{text}</li>
          ))}
      </ol>
      {problem !== undefined && <Failure error={problem} />}
      <Form onSubmit={() => attempt(check)}>
        {hasServer && (
          <>
            <TextField label={t("homeserver")} type="url" value={address} onInput={setAddress} required autocomplete="off" />
            <TextField label={t("user_id")} hint={t("user_id_hint")} value={user} onInput={setUser} required autocomplete="off" />
          </>
        )}
        <TextField label={t("token")} hint={t("token_hint")} type="password" value={token} onInput={setToken} required autocomplete="off" />
        <Button label={t("check")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
