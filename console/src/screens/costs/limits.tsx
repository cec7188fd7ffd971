/** Limits of each part of the computer, and the used share. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Loaded, Progress, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { attempt } from "~/state/toasts";
import { dollars, number } from "~/text/messages";
import { subjectName, tokensOf } from "./models";
import { t } from "./texts";

export function Limits() {
  const found = useResource((signal) => api.get("/api/usage/limits", { signal }), "limits", ["usage"]);
  const [isSetting, setSetting] = useState(false);
  const isAdmin = may("usage", "admin");
  const remove = async (limit: Schema<"ShownLimit">) => {
    await api.delete("/api/usage/limits/{subject}", { params: { subject: limit.subject } });
    await found.reload();
  };
  return (
    <Section title={t("limits")} actions={isAdmin && <Button label={t("set_limit")} icon="plus" onPress={() => setSetting(true)} />}>
      <Loaded of={found}>
        {({ limits }) =>
          limits.length === 0 ? (
            <p class="muted">{t("limits_none")}</p>
          ) : (
            <ul class="rows">
              {limits.map((limit) => (
                <Row
                  key={limit.subject}
                  title={<bdi>{subjectName(limit.subject)}</bdi>}
                  text={<Spent limit={limit} />}
                  actions={isAdmin && <Button label={t("remove")} onPress={() => remove(limit)} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isSetting && <LimitDialog onClose={() => setSetting(false)} onSaved={found.reload} />}
    </Section>
  );
}

function Spent({ limit }: { limit: Schema<"ShownLimit"> }) {
  const inDollars = limit.dollars !== null;
  const used = inDollars ? limit.used.dollars : tokensOf(limit.used);
  const most = (inDollars ? limit.dollars : limit.tokens) ?? 0;
  const shown = (value: number) => (inDollars ? dollars(value) : t("tokens", { n: value }));
  const text = `${t("used", { used: shown(used), limit: shown(most) })} · ${t("per")} ${t(limit.per)}`;
  return (
    <>
      {text}
      <Progress value={most ? Math.min(1, used / most) : 1} label={text} />
    </>
  );
}

const KINDS = ["chats", "workspace", "module", "hook", "guests", "computer", "questions"] as const;
const NAMED: ReadonlySet<string> = new Set(["workspace", "module", "hook"]);

function LimitDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => Promise<void> }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>("chats");
  const [name, setName] = useState("");
  const [per, setPer] = useState<"day" | "month">("day");
  const [money, setMoney] = useState("");
  const [tokens, setTokens] = useState("");
  const save = () =>
    attempt(async () => {
      const subject = NAMED.has(kind) ? `${kind}:${name}` : kind;
      const body = { per, dollars: money ? Number(money) : null, tokens: tokens ? Number(tokens) : null };
      await api.put("/api/usage/limits/{subject}", { params: { subject }, body });
      await onSaved();
      onClose();
    });
  return (
    <Dialog title={t("set_limit")} onClose={onClose}>
      <Form onSubmit={save}>
        <Choice label={t("subject")} value={kind} options={KINDS.map((value) => ({ value, label: t(value, { name: "…" }) }))} onChange={setKind} />
        {NAMED.has(kind) && <TextField label={t("name")} value={name} onInput={setName} required />}
        <Choice
          label={t("per")}
          value={per}
          options={[
            { value: "day", label: t("day") },
            { value: "month", label: t("month") },
          ]}
          onChange={setPer}
        />
        <TextField label={t("dollars")} hint={t("dollars_hint")} type="number" value={money} onInput={setMoney} placeholder={number(5)} />
        <TextField label={t("token_limit")} hint={t("token_hint")} type="number" value={tokens} onInput={setTokens} />
        <Button label={t("save")} kind="primary" submit disabled={!money && !tokens} />
      </Form>
    </Dialog>
  );
}
