/** A picture in its place, which opens large. */
import { messages } from "~/text/messages";
import { ask, Dialog } from "./dialog";

const t = messages("picture", { enlarge: "Show {name} large" });

interface Props {
  address: string;
  name: string;
  width?: number;
  height?: number;
  onError?: () => void;
}

export function Picture({ address, name, width, height, onError }: Props) {
  const enlarge = () =>
    ask<void>((close) => (
      <Dialog title={name} onClose={() => close()} isWide>
        <img class="large-picture" src={address} alt={name} />
      </Dialog>
    ));
  return (
    <button type="button" class="picture-button" aria-label={t("enlarge", { name })} onClick={enlarge}>
      <img src={address} alt={name} width={width} height={height} onError={onError} />
    </button>
  );
}
