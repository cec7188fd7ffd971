/** Provider of the model, and its test with a real question. */
import { useRef, useState } from "preact/hooks";
import { api, ApiError } from "~/api/client";
import { Button } from "~/components/button";
import { Choice, Form, TextField } from "~/components/field";
import { Notice, Progress } from "~/components/layout";
import { explain } from "~/text/errors";
import { said } from "~/text/server_sentences";
import { answered, type PartProps } from "./models";
import { t } from "./texts";

type Kind = "anthropic" | "compatible" | "offline";
type Trial =
  | { is: "asked" | "unnamed" }
  | { is: "failed"; error: unknown; isSaved: boolean };

const TOKENS = 60;

export function ModelStep({ known, reload, onDone }: PartProps) {
  const { provider, because } = known.setup.provider;
  const [kind, setKind] = useState<Kind>(provider ?? "anthropic");
  const [secret, setSecret] = useState("");
  const [address, setAddress] = useState("");
  const [model, setModel] = useState("");
  const [trial, setTrial] = useState<Trial>();
  // Of a server that has several models, and none was named.
  const [offered, setOffered] = useState<readonly string[]>([]);
  const running = useRef<AbortController | undefined>(undefined);
  const submit = async () => {
    if (trial?.is === "asked") return;
    const { signal } = (running.current = new AbortController());
    setTrial({ is: "asked" });
    answered.value = undefined;
    let isSaved = false;
    try {
      const server = kind === "compatible" ? { base_url: address.trim(), ...(model.trim() && { model: model.trim() }) } : {};
      const given = kind !== "offline" && secret.trim() ? { secret: secret.trim() } : {};
      await api.put("/api/provider", { body: { provider: kind, ...server, ...given } });
      isSaved = true;
      setSecret("");
      await reload();
      const answer = await api.post("/api/ask", { body: { prompt: t("question"), max_tokens: TOKENS }, signal });
      answered.value = { text: answer.text, model: answer.model };
      setTrial(undefined);
      onDone();
    } catch (error) {
      if (error instanceof ApiError && error.key === "no_model" && !offered.length) return choose(error);
      setTrial(signal.aborted ? undefined : { is: "failed", error, isSaved });
    }
  };
  const moved = (value: string) => {
    setAddress(value);
    setOffered([]);
  };
  const choose = async (error: ApiError) => {
    try {
      const names = (await api.get("/supervisor/models")).models.map(({ id }) => id);
      setOffered(names);
      setModel(names[0] ?? "");
      setTrial(names.length ? { is: "unnamed" } : { is: "failed", error, isSaved: true });
    } catch (problem) {
      setTrial({ is: "failed", error: problem, isSaved: true });
    }
  };
  return (
    <>
      <p class="muted">
        {provider ? t("now", { provider: t(`provider_${provider}`) }) : <bdi>{said(because)}</bdi>}
      </p>
      <Form onSubmit={submit}>
        <Choice<Kind>
          label={t("provider")}
          value={kind}
          options={(["anthropic", "compatible", "offline"] as const).map((value) => ({ value, label: t(`provider_${value}`) }))}
          onChange={setKind}
        />
        {kind === "compatible" && (
          <>
            <TextField label={t("server")} hint={t("server_hint")} type="url" value={address} onInput={moved} required autocomplete="off" />
            {offered.length ? (
              <Choice label={t("model_name")} value={model} options={offered.map((name) => ({ value: name, label: name }))} onChange={setModel} />
            ) : (
              <TextField label={t("model_name")} hint={t("model_name_hint")} value={model} onInput={setModel} autocomplete="off" />
            )}
          </>
        )}
        {kind !== "offline" && (
          <TextField
            label={t("secret")}
            hint={t(kind === "anthropic" ? "secret_anthropic" : "secret_compatible")}
            type="password"
            value={secret}
            onInput={setSecret}
            autocomplete="off"
          />
        )}
        <Button label={t("save")} kind="primary" submit disabled={trial?.is === "asked"} />
      </Form>
      <div role="status">
        {trial?.is === "asked" && (
          <Notice>
            <p>{t("asking")}</p>
            <Progress label={t("asking")} />
            <Button label={t("cancel")} onPress={() => running.current?.abort()} />
          </Notice>
        )}
        {trial?.is === "unnamed" && (
          <Notice>
            <p>{t("choose_model")}</p>
          </Notice>
        )}
        {trial?.is === "failed" && (
          <Notice kind="danger">
            {trial.isSaved && <p>{t("saved_only")}</p>}
            <p>{explain(trial.error).replace(/^[a-z_]+: /, "")}</p>
          </Notice>
        )}
      </div>
    </>
  );
}
