/** Provider of the model, and its login; a secret goes in and never comes out again. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Facts, Loaded, Notice, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import type { Provider } from "./models";
import { Providers } from "./providers";
import { t } from "./texts";

type Kind = "anthropic" | "compatible" | "offline";

export function Model() {
  const found = useResource(
    async (signal) => (await api.get("/api/status", { signal })).provider,
    "provider",
    ["settings"],
  );
  const forget = async () => {
    if (!(await confirm(t("forget_title"), t("forget_text"), t("forget")))) return;
    found.set(await api.delete("/api/provider"));
    toast(t("forgotten"));
  };
  return (
    <Loaded of={found}>
      {(provider) => (
        <>
          <Facts
            facts={[
              [t("model"), <bdi>{inUse(provider)}</bdi>],
              [t("login"), provider.credential ? login(provider.credential) : t("no_login")],
            ]}
          />
          {provider.credential?.problem && (
            <Notice kind="danger">
              <p>{said(provider.credential.problem)}</p>
            </Notice>
          )}
          <Section title={t("choose")}>
            <Chooser now={provider} onChosen={found.set} />
          </Section>
          <div class="buttons">
            <Button label={t("forget")} kind="danger" onPress={forget} />
          </div>
          <Providers />
        </>
      )}
    </Loaded>
  );
}

/** Model in use and its place, as one sentence. */
function inUse({ provider, model, address, because }: Provider): string {
  if (provider === null) return said(because);
  if (provider === "offline") return t("model_offline");
  const named = model ?? t(provider === "anthropic" ? "model_claude" : "model_of_server");
  return t("model_at", { model: named, place: address ?? "Anthropic" });
}

function name(provider: string | null): string {
  return provider ? t(`provider_${provider}` as "provider_offline") : t("provider_none");
}

function login({ kind, source, expired, ends_at }: NonNullable<Provider["credential"]>): string {
  const what = t(`login_${kind}` as "login_api_key");
  const until = expired ? t("login_ended") : ends_at ? t("login_until", { time: moment(ends_at) }) : "";
  return [what, source, until].filter(Boolean).join(" · ");
}

function Chooser({ now, onChosen }: { now: Provider; onChosen: (provider: Provider) => void }) {
  const [kind, setKind] = useState<Kind>((now.provider as Kind | null) ?? "anthropic");
  const [secret, setSecret] = useState("");
  const isCompatible = now.provider === "compatible";
  const [address, setAddress] = useState((isCompatible && now.address) || "");
  const [model, setModel] = useState((isCompatible && now.model) || "");
  const choose = () =>
    attempt(async () => {
      const body = {
        provider: kind,
        ...(kind !== "offline" && secret && { secret: secret.trim() }),
        ...(kind === "compatible" && { base_url: address.trim(), ...(model && { model: model.trim() }) }),
      };
      const chosen = await api.put("/api/provider", { body });
      setSecret("");
      onChosen(chosen);
      toast(t("chosen", { provider: name(chosen.provider) }));
    });
  const options = (["anthropic", "compatible", "offline"] as const).map((value) => ({ value, label: t(`provider_${value}`) }));
  return (
    <Form onSubmit={choose}>
      <Choice label={t("provider")} hint={t(`about_${kind}`)} value={kind} options={options} onChange={setKind} />
      {kind === "compatible" && (
        <>
          <TextField label={t("address")} type="url" value={address} onInput={setAddress} required />
          <TextField label={t("model_name")} hint={t("model_hint")} value={model} onInput={setModel} />
        </>
      )}
      {kind !== "offline" && (
        <TextField label={t("secret")} hint={t("secret_hint")} type="password" autocomplete="off" value={secret} onInput={setSecret} />
      )}
      <div class="buttons">
        <Button label={t("use")} kind="primary" submit />
      </div>
    </Form>
  );
}
