/** Ask for one line of text, such as another name. */
import { useState } from "preact/hooks";
import { messages } from "~/text/messages";
import { Button } from "./button";
import { ask, Dialog } from "./dialog";
import { Form, TextField } from "./field";

const t = messages("prompt", { cancel: "Cancel" });

interface Props {
  title: string;
  label: string;
  value: string;
  yes: string;
}

function Prompt({ title, label, value, yes, close }: Props & { close: (text?: string) => void }) {
  const [text, setText] = useState(value);
  return (
    <Dialog title={title} onClose={() => close()}>
      <Form onSubmit={() => text.trim() && close(text.trim())}>
        <TextField label={label} value={text} onInput={setText} autofocus required autocomplete="off" />
        <div class="form-actions">
          <Button label={t("cancel")} onPress={() => close()} />
          <Button label={yes} kind="primary" submit disabled={!text.trim()} />
        </div>
      </Form>
    </Dialog>
  );
}

/** The text that was given, trimmed; undefined if there was none. */
export function askText(props: Props): Promise<string | undefined> {
  return ask<string>((close) => <Prompt {...props} close={close} />);
}
