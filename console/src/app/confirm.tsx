/** The owner confirms who they are: their decisions ask again ten minutes after signing in. */
import { useState } from "preact/hooks";
import { api, listeners } from "~/api/client";
import { Button } from "~/components/button";
import { ask, Dialog } from "~/components/dialog";
import { Form, TextField } from "~/components/field";
import { Failure } from "~/components/layout";
import { confirmFirst } from "~/state/session";
import { messages } from "~/text/messages";
import { proofOf } from "./sign_in";

const t = messages("confirm", {
  title: "Confirm that it is you",
  text: "This affects your whole computer. Type a code from another signed-in device or from “parachute pair” on the computer, your key, or the password on your emergency kit.",
  secret: "Code, key or password",
  confirm: "Confirm",
});

function Confirm({ close }: { close: (value?: boolean) => void }) {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    try {
      await api.post("/api/pairing/confirm", { body: proofOf(text) });
      close(true);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog title={t("title")} onClose={() => close(false)}>
      <Form onSubmit={submit}>
        <p>{t("text")}</p>
        <TextField label={t("secret")} value={text} onInput={setText} autocomplete="one-time-code" autofocus required monospace />
        {error !== undefined && <Failure error={error} />}
        <Button label={t("confirm")} kind="primary" submit />
      </Form>
    </Dialog>
  );
}

let open: Promise<boolean> | undefined;

/** Two calls that need it at once ask once. */
listeners.confirm = () =>
  (open ??= confirmed().finally(() => {
    open = undefined;
  }));

async function confirmed(): Promise<boolean> {
  if (await confirmFirst()) return true;
  return (await ask<boolean>((close) => <Confirm close={close} />)) ?? false;
}
