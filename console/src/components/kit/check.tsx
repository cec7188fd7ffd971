/** Bringing the kit back: its password typed from the paper, or its code scanned. It has to open the backups for real. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Form, TextField } from "~/components/field";
import { Failure, Progress } from "~/components/layout";
import { toast } from "~/state/toasts";
import { isKit, passwordIn } from "./models";
import { Scan } from "./scan";
import { t } from "./texts";

interface Props {
  onOpened: () => unknown;
  onCancel: () => unknown;
}

export function Check({ onOpened, onCancel }: Props) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const open = async (text: string) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await api.post("/api/backups/kit/check", { body: { kit: text } });
      toast(t("opened"));
      await onOpened();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <div class="kit-check">
      <p>{t("check_text")}</p>
      <Scan onText={open} />
      <Form onSubmit={() => open(isKit(typed) ? typed : passwordIn(typed))}>
        <TextField label={t("check_password")} hint={t("check_hint")} value={typed} onInput={setTyped} required autocomplete="off" monospace rows={2} />
        {isBusy && <Progress label={t("opening")} />}
        {error !== undefined && <Failure error={error} />}
        <div class="buttons">
          <Button label={t("later")} onPress={onCancel} />
          <Button label={t("check")} kind="primary" submit disabled={isBusy} />
        </div>
      </Form>
    </div>
  );
}
