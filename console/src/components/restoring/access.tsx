/** Place of existing backups, and their credentials: the emergency kit, scanned, or typed in. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Credentials, type Typed, typedFor } from "~/components/kit/credentials";
import { isKit, passwordIn } from "~/components/kit/models";
import { Scan } from "~/components/kit/scan";
import { Failure, Progress } from "~/components/layout";
import { t } from "./texts";

export function Access({ place, onOpened }: { place: string; onOpened: () => unknown }) {
  const [repository, setRepository] = useState(place);
  const [password, setPassword] = useState("");
  const [credentials, setCredentials] = useState<Typed>({});
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const open = async (body: object) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await api.put("/api/backups/access", { body });
      await onOpened();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const submit = () =>
    open(
      isKit(password)
        ? { kit: password }
        : { repository: repository.trim(), password: passwordIn(password), credentials: typedFor(repository, credentials) },
    );
  return (
    <>
      <p>{t("access_text")}</p>
      <Scan onText={(kit) => open({ kit })} />
      <p class="muted">{t("or_type")}</p>
      <Form onSubmit={submit}>
        <TextField label={t("place")} hint={t("place_hint")} value={repository} onInput={setRepository} required={!isKit(password)} autocomplete="off" monospace />
        <TextField label={t("password")} hint={t("password_hint")} value={password} onInput={setPassword} required autocomplete="off" monospace rows={2} />
        <Credentials repository={repository} values={credentials} onChange={setCredentials} />
        {isBusy && <Progress label={t("opening")} />}
        {error !== undefined && <Failure error={error} />}
        <Button label={t("open")} kind="primary" submit disabled={isBusy} />
      </Form>
    </>
  );
}
