/** Tokens of git hosts: written here, put in by the computer's proxy, and never shown again. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { confirm, Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Ago, Loaded, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { t } from "./git_texts";

type Token = Schema<"ShownToken">;

export function Tokens() {
  const found = useResource(async (signal) => (await api.get("/api/git/tokens", { signal })).tokens, "tokens", ["network"]);
  const [isAdding, setAdding] = useState(false);
  const remove = async ({ host }: Token) => {
    if (!(await confirm(t("remove_title", { host }), t("remove_text"), t("remove")))) return;
    await api.delete("/api/git/tokens", { query: { host } });
    await found.reload();
  };
  return (
    <Section title={t("tokens")} actions={found.value && <Button label={t("add_token")} icon="plus" onPress={() => setAdding(true)} />}>
      <Loaded of={found}>
        {(tokens) =>
          tokens.length === 0 ? (
            <p class="muted">{t("tokens_none")}</p>
          ) : (
            <ul class="rows">
              {tokens.map((token) => (
                <Row
                  key={token.host}
                  title={<bdi>{token.host}</bdi>}
                  text={
                    <>
                      <bdi>{token.token}</bdi> · <bdi>{token.user}</bdi> · <Ago time={token.set_at} />
                    </>
                  }
                  actions={<Button label={t("remove_one", { host: token.host })} icon="trash" iconOnly kind="quiet" onPress={() => remove(token)} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding && <TokenDialog onClose={() => setAdding(false)} onSaved={found.reload} />}
    </Section>
  );
}

function TokenDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => Promise<void> }) {
  const [draft, setDraft] = useState({ host: "", token: "", user: "" });
  const field = (name: keyof typeof draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const save = () =>
    attempt(async () => {
      const { host, token, user } = draft;
      const made = await api.put("/api/git/tokens", { body: { host, token, ...(user && { user }) } });
      toast(t("token_kept", { host: made.host }));
      await onSaved();
      onClose();
    });
  return (
    <Dialog title={t("add_token")} onClose={onClose}>
      <Form onSubmit={save}>
        <p class="muted">{t("token_text")}</p>
        <TextField label={t("host")} hint={t("host_hint")} value={draft.host} onInput={field("host")} required autofocus autocomplete="off" />
        <TextField label={t("token")} hint={t("token_hint")} type="password" value={draft.token} onInput={field("token")} required autocomplete="off" />
        <TextField label={t("user")} hint={t("user_hint")} value={draft.user} onInput={field("user")} autocomplete="off" />
        <Button label={t("keep_token")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}
