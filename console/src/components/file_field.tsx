/** One file of this device, chosen or dropped. */
import { useId } from "preact/hooks";
import { bytes } from "~/text/messages";

interface Props {
  label: string;
  hint?: string;
  /** Endings or kinds that are offered, such as `.zip,.json`. */
  accept?: string;
  file: File | undefined;
  onChoose: (file: File) => void;
}

export function FileField({ label, hint, accept, file, onChoose }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        class="file"
        accept={accept}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          const first = event.currentTarget.files?.[0];
          if (first) onChoose(first);
        }}
      />
      <small id={`${id}-hint`} class="hint">
        {file ? bytes(file.size) : hint}
      </small>
    </div>
  );
}
