/** A further device: a browser pairs by a code, the app and programs get a key. */
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { Choice, Form, TextField } from "~/components/field";
import { Facts } from "~/components/layout";
import { Qr } from "~/components/qr";
import { listen } from "~/state/live";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import type { BrowserSession } from "./screen";
import { t } from "./texts";

/** Scopes of a key (docs/api.md) for what people give devices; all rights are sent as none named. */
const RIGHTS = {
  all: undefined,
  chat: ["chat:read,write", "inbox:read,write", "daily:read,write", "brain:read"],
  family: ["daily:read", "brain:read"],
} as const;

type Rights = keyof typeof RIGHTS;

interface Code {
  id: string;
  code: string;
  url: string;
  qr: number[][];
  expires_at: string;
}

export function AddDevice({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<"browser" | "app">("browser");
  const [rights, setRights] = useState<Rights>("all");
  const [name, setName] = useState("");
  const [code, setCode] = useState<Code>();
  const [key, setKey] = useState<string>();
  const submit = () =>
    attempt(async () => {
      const scopes = RIGHTS[rights];
      if (kind === "browser") {
        setCode(await api.post<Code>("/api/pairing/codes", { body: { ...(name && { name }), ...(scopes && { scopes }) } }));
      } else {
        setKey((await api.post<{ key: string }>("/api/auth/keys", { body: { label: name, ...(scopes && { scopes }) } })).key);
      }
    });
  return (
    <Dialog title={t("add")} onClose={onClose}>
      {code ? (
        <ShownCode code={code} onDone={onClose} />
      ) : key ? (
        <ShownKey secret={key} onDone={onClose} />
      ) : (
        <Form onSubmit={submit}>
          <p class="muted">{t("add_text")}</p>
          <Choice
            label={t("kind")}
            value={kind}
            options={[
              { value: "browser", label: t("kind_browser") },
              { value: "app", label: t("kind_app") },
            ]}
            onChange={setKind}
          />
          <Choice
            label={t("whose")}
            value={rights}
            options={(["all", "chat", "family"] as const).map((value) => ({ value, label: t(`rights_${value}`) }))}
            onChange={setRights}
          />
          <TextField label={t("device_name")} value={name} onInput={setName} required={kind === "app"} />
          <Button label={kind === "browser" ? t("show_code") : t("make_key")} kind="primary" submit />
        </Form>
      )}
    </Dialog>
  );
}

/** The code, until another browser has taken it. */
function ShownCode({ code, onDone }: { code: Code; onDone: () => void }) {
  useEffect(() => {
    let before: Set<string> | undefined;
    const look = async () => {
      const { sessions } = await api.get<{ sessions: BrowserSession[] }>("/api/pairing/sessions");
      const added = before && sessions.find(({ id }) => !before?.has(id));
      before ??= new Set(sessions.map(({ id }) => id));
      if (!added) return;
      toast(t("paired", { name: added.name }));
      onDone();
    };
    void look();
    return listen(["keys"], () => void look());
  }, []);
  return (
    <>
      <p>{t("scan", { time: moment(code.expires_at, { timeStyle: "short" }) })}</p>
      <div class="pairing">
        <Qr rows={code.qr} label={code.url} />
        <p class="pairing-code monospace">{code.code}</p>
      </div>
      <Facts facts={[[t("address"), <code>{code.url}</code>]]} />
      <Button label={t("done")} onPress={onDone} />
    </>
  );
}

function ShownKey({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <>
      <p>{t("key_once")}</p>
      <Facts
        facts={[
          [t("address"), <code>{location.origin}</code>],
          [t("key"), <code>{secret}</code>],
        ]}
      />
      <Button label={t("done")} onPress={onDone} />
    </>
  );
}
