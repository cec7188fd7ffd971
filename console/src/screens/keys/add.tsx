import { Dialog } from "~/components/dialog";
import { NewDevice } from "~/components/device";
import { t } from "./texts";

export function AddDevice({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t("add")} onClose={onClose}>
      <p class="muted">{t("add_text")}</p>
      <NewDevice onDone={onClose} />
    </Dialog>
  );
}
