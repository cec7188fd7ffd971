/** A further device: a browser pairs by a code, the app and programs get a key. */
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { listen } from "~/state/live";
import { attempt, toast } from "~/state/toasts";
import { messages, moment } from "~/text/messages";
import { Button } from "./button";
import { Choice, Form, TextField } from "./field";
import { Facts, Notice } from "./layout";
import { Qr } from "./qr";

const t = messages({
  en: {
    kind: "What is it?",
    kind_browser: "A browser",
    kind_app: "The Parachute app, or a program",
    whose: "What may it do?",
    rights_all: "Everything, as you",
    rights_chat: "Chat and journal",
    rights_family: "Read knowledge and journal (family device)",
    device_name: "What is it called?",
    show_code: "Show a code",
    make_key: "Make a key",
    scan: "Scan this with the device's camera, open the address, or type the code there. It works once, until {time}.",
    address: "Address",
    key_once: "Enter this address and key in the app. The key is shown only now.",
    key: "Key",
    done: "Done",
    paired: "{name} is signed in.",
    only_here: "Only this computer reaches this address. For other devices type on it: parachute config set host 0.0.0.0, and start it again.",
  },
  de: {
    kind: "Was ist es?",
    kind_browser: "Ein Browser",
    kind_app: "Die Parachute-App oder ein Programm",
    whose: "Was darf es?",
    rights_all: "Alles, wie du",
    rights_chat: "Gespräche und Tagebuch",
    rights_family: "Wissen und Tagebuch lesen (Familiengerät)",
    device_name: "Wie heißt es?",
    show_code: "Code zeigen",
    make_key: "Schlüssel machen",
    scan: "Mit der Kamera des Geräts scannen, die Adresse öffnen oder den Code dort eingeben. Er gilt einmal, bis {time}.",
    address: "Adresse",
    key_once: "Gib diese Adresse und diesen Schlüssel in der App ein. Der Schlüssel wird nur jetzt gezeigt.",
    key: "Schlüssel",
    done: "Fertig",
    paired: "{name} ist angemeldet.",
    only_here: "Diese Adresse erreicht nur dieser Computer selbst. Für andere Geräte dort eingeben: parachute config set host 0.0.0.0, und neu starten.",
  },
});

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

/** What the device is and may do, then its code or key; `onDone` once it is in, or its key was read. */
export function NewDevice({ onDone }: { onDone: () => void }) {
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
  if (code) return <ShownCode code={code} onDone={onDone} />;
  if (key) return <ShownKey secret={key} onDone={onDone} />;
  return (
    <Form onSubmit={submit}>
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
  );
}

/** The code, until another browser has taken it. */
function ShownCode({ code, onDone }: { code: Code; onDone: () => void }) {
  useEffect(() => {
    let before: Set<string> | undefined;
    const look = async () => {
      const { sessions } = await api.get<{ sessions: { id: string; name: string }[] }>("/api/pairing/sessions");
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
      <Reach address={code.url} />
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
      <Reach address={location.origin} />
      <Button label={t("done")} onPress={onDone} />
    </>
  );
}

/** That other devices do not reach an address on this machine. */
function Reach({ address }: { address: string }) {
  if (!/^(localhost|127\.|\[::1\])/.test(new URL(address).hostname)) return null;
  return (
    <Notice kind="warning">
      <p>{t("only_here")}</p>
    </Notice>
  );
}
