/** The page of a browser that nobody has signed in yet. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Failure } from "~/components/layout";
import { useResource } from "~/state/resource";
import { place } from "~/state/router";
import { me, signIn, signInFirst } from "~/state/session";
import { messages } from "~/text/messages";

const t = messages("sign_in", {
  title: "Sign in to your computer",
  code: "Code or key",
  here_1: "Open a terminal on this computer.",
  here_2: "Type",
  here_3: "The console opens, signed in. Without a desktop it prints a link; open that here.",
  or_code: "Or sign in with a code",
  code_hint: "A device that is signed in shows a code under “Keys and devices”. On the computer itself type: parachute pair",
  sign_in: "Sign in",
  shared: "What you have shared is kept on this device. Sign in, and say where it goes.",
  first: "A new computer shows its key on its own screen.",
  trust: "Trust this computer",
  trust_why: "This browser then encrypts what it sends, and the computer can use the microphone and work offline.",
});

const CODE = /^[0-9a-z]{4}[- ]?[0-9a-z]{4}$/i;

/** The password on an emergency kit: those that a computer makes have this many characters, and no key has. */
const KIT = /^[\w-]{43}$/;

/** Return the proof of a person's identity: a code, a key or the password on the emergency kit. */
export function proofOf(text: string): { code: string } | { key: string } | { kit: string } {
  const joined = text.replace(/\s+/g, "");
  return KIT.test(joined) ? { kit: joined } : secretOf(text);
}

/** A typed text as what it is: a pairing code has eight characters, a key many more. */
function secretOf(text: string): { code: string } | { key: string } {
  const trimmed = text.trim();
  // A screen shows the key of a new computer in two lines.
  return CODE.test(trimmed) ? { code: trimmed } : { key: trimmed.replace(/\s+/g, "") };
}

export function SignIn() {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>();
  const tls = useResource((signal) => api.get("/api/tls", { signal }), "tls");
  // The server says it to a page on this computer alone.
  const program = me.value?.program;
  const submit = async () => {
    setError(undefined);
    try {
      const secret = secretOf(text);
      await ("key" in secret ? signInFirst(secret.key) : signIn(secret));
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <main class="sign-in">
      <h1>{t("title")}</h1>
      {place.value.screen === "share" && !place.value.query.has("problem") && <p role="status">{t("shared")}</p>}
      {program && (
        <>
          <ol class="steps">
            <li>{t("here_1")}</li>
            <li>
              {t("here_2")} <code>{`${program} open`}</code>
            </li>
            <li>{t("here_3")}</li>
          </ol>
          <h2>{t("or_code")}</h2>
        </>
      )}
      <Form onSubmit={submit}>
        <TextField label={t("code")} hint={t("code_hint")} value={text} onInput={setText} autocomplete="one-time-code" autofocus={!program} required monospace />
        {error !== undefined && <Failure error={error} />}
        <Button label={t("sign_in")} kind="primary" submit />
      </Form>
      <p class="muted">{t("first")}</p>
      {tls.value?.enabled && (
        <p class="muted">
          <a href="/tls">{t("trust")}</a>. {t("trust_why")}
        </p>
      )}
    </main>
  );
}
