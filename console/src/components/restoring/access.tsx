/** Where backups are that are there already, and the password that opens them. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Notice, Progress } from "~/components/layout";
import { explain } from "~/text/errors";
import { passwordIn } from "./models";
import { t } from "./texts";

export function Access({ place, onOpened }: { place: string; onOpened: () => unknown }) {
  const [repository, setRepository] = useState(place);
  const [password, setPassword] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await api.put("/api/backups/access", { body: { repository: repository.trim(), password: passwordIn(password) } });
      await onOpened();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <p>{t("access_text")}</p>
      <Form onSubmit={submit}>
        <TextField label={t("place")} hint={t("place_hint")} value={repository} onInput={setRepository} required autocomplete="off" monospace />
        <TextField label={t("password")} hint={t("password_hint")} value={password} onInput={setPassword} required autocomplete="off" monospace rows={2} />
        {isBusy && <Progress label={t("opening")} />}
        {error !== undefined && (
          <Notice kind="danger">
            <p role="alert">{explain(error)}</p>
          </Notice>
        )}
        <Button label={t("open")} kind="primary" submit disabled={isBusy} />
      </Form>
    </>
  );
}
