/** A further device: a browser pairs by a code, the app and programs get a key. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { useResource } from "~/state/resource";
import { attempt, toast } from "~/state/toasts";
import { messages, moment } from "~/text/messages";
import { Button } from "./button";
import { Choice, Form, TextField } from "./field";
import { Facts, Notice } from "./layout";
import { Qr } from "./qr";
import { useSignedIn } from "./signed_in";

const t = messages("device", {
  kind: "Kind of device",
  kind_browser: "A browser",
  kind_app: "The Parachute app, or a program",
  whose: "Rights",
  rights_all: "Everything, as you",
  rights_chat: "Chat and journal",
  rights_family: "Read knowledge and journal (family device)",
  device_name: "Name",
  show_code: "Show a code",
  make_key: "Create a key",
  scan: "Scan this with the device's camera, open the address, or type the code there. Works once, until {time}.",
  scan_here: "Open the address in another browser of this computer, or type the code there. Works once, until {time}.",
  address: "Address",
  key_once: "Enter this address and key in the app. The key is shown only now.",
  key: "Key",
  done: "Done",
  paired: "{name} is signed in.",
  only_here: "Other devices cannot reach this computer yet. “Connect a phone” lets them in.",
});

/** Scopes of a key (docs/api.md) for what people give devices; all rights are sent as none named. */
const RIGHTS = {
  all: undefined,
  chat: ["chat:read,write", "inbox:read,write", "daily:read,write", "brain:read"],
  family: ["daily:read", "brain:read"],
} as const;

type Rights = keyof typeof RIGHTS;

type Code = Schema<"CodeAnswer">;

/** Return whether other devices reach this computer, undefined until that is known. */
function useReach(): boolean | undefined {
  const found = useResource((signal) => api.get("/api/pairing/address", { signal }), "reach");
  // Over whatever way this page came from elsewhere, others come, too.
  return !isLoopback(location.hostname) || found.value?.is_reachable;
}

export const isLoopback = (name: string) => /^(localhost|127\.|\[::1\])/.test(name);

/** Form for a device's kind and rights, then its code or key; `onDone` once it is in, or its key was read. */
export function NewDevice({ onDone, isApp = false }: { onDone: () => void; isApp?: boolean }) {
  const isReached = useReach();
  const [kind, setKind] = useState<"browser" | "app">(isApp ? "app" : "browser");
  const [rights, setRights] = useState<Rights>("all");
  const [name, setName] = useState("");
  const [code, setCode] = useState<Code>();
  const [key, setKey] = useState<string>();
  const submit = () =>
    attempt(async () => {
      const scopes = RIGHTS[rights];
      if (kind === "browser") {
        setCode(await api.post("/api/pairing/codes", { body: { ...(name && { name }), ...(scopes && { scopes }) } }));
      } else {
        setKey((await api.post("/api/auth/keys", { body: { label: name, ...(scopes && { scopes }) } })).key);
      }
    });
  if (isReached === undefined) return null;
  if (code) return <ShownCode code={code} isReached={isReached} onDone={onDone} />;
  if (key) return <ShownKey secret={key} isReached={isReached} onDone={onDone} />;
  return (
    <Form onSubmit={submit}>
      {!isReached && <OnlyHere />}
      {!isApp && (
        <Choice
          label={t("kind")}
          value={kind}
          options={[
            { value: "browser", label: t("kind_browser") },
            { value: "app", label: t("kind_app") },
          ]}
          onChange={setKind}
        />
      )}
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
function ShownCode({ code, isReached, onDone }: { code: Code; isReached: boolean; onDone: () => void }) {
  useSignedIn(({ name }) => {
    toast(t("paired", { name }));
    onDone();
  });
  return (
    <>
      <p>{t(isReached ? "scan" : "scan_here", { time: moment(code.expires_at, { timeStyle: "short" }) })}</p>
      <div class="pairing">
        {isReached && <Qr rows={code.qr} label={code.url} />}
        <p class="pairing-code monospace">{code.code}</p>
      </div>
      <Facts facts={[[t("address"), <code>{code.url}</code>]]} />
      <Button label={t("done")} onPress={onDone} />
    </>
  );
}

function ShownKey({ secret, isReached, onDone }: { secret: string; isReached: boolean; onDone: () => void }) {
  return (
    <>
      <p>{t("key_once")}</p>
      <Facts
        facts={[
          [t("address"), <code>{location.origin}</code>],
          [t("key"), <code>{secret}</code>],
        ]}
      />
      {!isReached && <OnlyHere />}
      <Button label={t("done")} onPress={onDone} />
    </>
  );
}

/** Notice that other devices do not reach this computer yet. */
function OnlyHere() {
  return (
    <Notice kind="warning">
      <p>{t("only_here")}</p>
    </Notice>
  );
}
