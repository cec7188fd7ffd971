/** The emergency kit from its page to the proof that it opens the backups. */
import { useEffect, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { confirm } from "~/components/dialog";
import { Notice } from "~/components/layout";
import { ago } from "~/text/messages";
import { Check } from "./check";
import type { Kit, Protection } from "./models";
import { Sheet } from "./sheet";
import { t } from "./texts";

interface Props {
  protection: Protection;
  reload: () => Promise<void>;
  /** The kit that was just made, which is shown at once. */
  made?: Kit;
}

export async function readKit(): Promise<Kit> {
  return api.post("/api/backups/kit");
}

export function EmergencyKit({ protection, reload, made }: Props) {
  const [kit, setKit] = useState(made);
  const [isChecking, setChecking] = useState(false);
  // The stream of changes may be quicker than the answer that has it.
  useEffect(() => {
    if (made) setKit(made);
  }, [made]);
  const show = async () => {
    if (await confirm(t("show_title"), t("show_text"), t("show"), "primary")) setKit(await readKit());
  };
  const check = () => {
    setKit(undefined);
    setChecking(true);
  };
  if (kit) {
    return (
      <>
        <Sheet kit={kit} />
        <div class="buttons">
          <Button label={t("hide")} kind="quiet" onPress={() => setKit(undefined)} />
          <Button label={t("print")} icon="download" onPress={() => print()} />
          <Button label={t("have_it")} kind="primary" onPress={check} />
        </div>
      </>
    );
  }
  if (isChecking) {
    const opened = async () => {
      await reload();
      setChecking(false);
    };
    return <Check onOpened={opened} onCancel={() => setChecking(false)} />;
  }
  const isProtected = protection.kit_opened_at !== null;
  return (
    <Notice kind={isProtected ? "good" : "warning"}>
      <p>
        <strong>{t(isProtected ? "protected" : "not_protected")}</strong>
      </p>
      <p>{isProtected ? t("protected_text", { ago: ago(protection.kit_opened_at ?? "") }) : t("not_protected_text")}</p>
      <div class="buttons">
        <Button label={t("try")} onPress={check} />
        <Button label={t("show")} kind={isProtected ? "plain" : "primary"} icon="keys" onPress={show} />
      </div>
    </Notice>
  );
}
