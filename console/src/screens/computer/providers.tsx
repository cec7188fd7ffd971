/** Providers beside the first one: each with its name, its place and what its server showed. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm, Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Badge, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

type Shown = Schema<"ProviderModels">;
type Kind = Shown["kind"];

const MAIN = "main";

export function Providers() {
  const found = useResource(async (signal) => (await api.get("/api/provider/models", { signal })).providers, "providers", ["settings"]);
  const [isAdding, setAdding] = useState(false);
  const forget = async (name: string) => {
    if (!(await confirm(t("provider_forget_title", { name }), t("provider_forget_text"), t("provider_forget", { name })))) return;
    await api.delete("/api/provider", { query: { name } });
    await found.reload();
    toast(t("provider_forgotten", { name }));
  };
  return (
    <Section title={t("providers")} actions={<Button label={t("provider_add")} icon="plus" onPress={() => setAdding(true)} />}>
      <p class="muted">{t("providers_text")}</p>
      <Loaded of={found}>
        {(providers) => (
          <ul class="list">
            {providers
              .filter(({ name }) => name !== MAIN)
              .map((each) => (
                <Row
                  key={each.name}
                  icon={each.at_home ? "home" : "link"}
                  title={<bdi>{each.name}</bdi>}
                  text={each.problem ? said(each.problem) : described(each)}
                  badges={<Badge text={t(each.at_home ? "provider_here" : "provider_there")} kind={each.at_home ? "good" : "plain"} />}
                  actions={<Button label={t("provider_forget", { name: each.name })} icon="trash" iconOnly onPress={() => forget(each.name)} />}
                />
              ))}
          </ul>
        )}
      </Loaded>
      {isAdding && <Adding onClose={() => setAdding(false)} onAdded={found.reload} />}
    </Section>
  );
}

function described({ kind, address, models, window, tools, counts }: Shown): string {
  const known = [
    address ?? t(`provider_${kind}`),
    t("models", { n: models.length }),
    window && t("provider_window", { n: window }),
    tools !== null && t(tools ? "provider_tools" : "provider_no_tools"),
    counts && t("provider_counts"),
  ];
  return known.filter(Boolean).join(" · ");
}

function Adding({ onClose, onAdded }: { onClose: () => void; onAdded: () => Promise<void> }) {
  const [kind, setKind] = useState<Kind>("compatible");
  const [name, setName] = useState("home");
  const [address, setAddress] = useState("");
  const [model, setModel] = useState("");
  const [secret, setSecret] = useState("");
  const add = () =>
    attempt(async () => {
      const body = {
        provider: kind,
        name: name.trim(),
        ...(kind === "compatible" && { base_url: address.trim() }),
        ...(kind !== "offline" && model && { model: model.trim() }),
        ...(kind !== "offline" && secret && { secret: secret.trim() }),
      };
      await api.put("/api/provider", { body });
      await onAdded();
      toast(t("provider_added", { name: name.trim() }));
      onClose();
    });
  const options = (["compatible", "anthropic", "offline"] as const).map((value) => ({ value, label: t(`provider_${value}`) }));
  return (
    <Dialog title={t("provider_add")} onClose={onClose}>
      <Form onSubmit={add}>
        <Choice label={t("provider")} hint={t(`about_${kind}`)} value={kind} options={options} onChange={setKind} />
        <TextField label={t("provider_name")} hint={t("provider_name_hint")} value={name} onInput={setName} autocomplete="off" required />
        {kind === "compatible" && <TextField label={t("address")} type="url" value={address} onInput={setAddress} required />}
        {kind !== "offline" && (
          <>
            <TextField label={t("model_name")} hint={t("provider_model_hint")} value={model} onInput={setModel} autocomplete="off" />
            <TextField label={t("secret")} hint={t("secret_hint")} type="password" autocomplete="off" value={secret} onInput={setSecret} />
          </>
        )}
        <Button label={t("provider_add")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
