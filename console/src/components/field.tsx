import type { ComponentChildren, JSX } from "preact";
import { useId } from "./ids";

interface Common {
  label: string;
  hint?: string;
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "password" | "search" | "url" | "number" | "date" | "time" | "email";
  placeholder?: string;
  autocomplete?: string;
  required?: boolean;
  autofocus?: boolean;
  onFocus?: () => void;
  rows?: number;
  monospace?: boolean;
  /** Keep the label for screen readers only. */
  isLabelHidden?: boolean;
}

/** A line of text, or several with `rows`. */
export function TextField({ label, hint, value, onInput, type = "text", rows, monospace, isLabelHidden, ...rest }: TextProps) {
  const id = useId();
  const shared = {
    id,
    value,
    "aria-describedby": hint ? `${id}-hint` : undefined,
    class: monospace ? "monospace" : "",
    // Numbers may have a fraction; the server says where that makes no sense.
    step: type === "number" ? "any" : undefined,
    ...rest,
    onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value),
  };
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "visually-hidden" : ""}>
        {label}
      </label>
      {rows ? <textarea rows={rows} {...shared} /> : <input {...({ type, ...shared } as JSX.IntrinsicElements["input"])} />}
      {hint && <Hint id={id} text={hint} />}
    </div>
  );
}

interface ChoiceProps<T extends string> extends Common {
  isLabelHidden?: boolean;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}

/** One of a few words. */
export function Choice<T extends string>({ label, hint, value, options, onChange, isLabelHidden }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "visually-hidden" : ""}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && <Hint id={id} text={hint} />}
    </div>
  );
}

interface SwitchProps extends Common {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  disabled?: boolean;
}

/** On or off, at once. */
export function Switch({ label, hint, isOn, onChange, disabled }: SwitchProps) {
  const id = useId();
  return (
    <div class="field switch">
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={isOn}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && <Hint id={id} text={hint} />}
    </div>
  );
}

function Hint({ id, text }: { id: string; text: string }) {
  return (
    <small id={`${id}-hint`} class="hint">
      {text}
    </small>
  );
}

/** Fields that are sent together, with Enter as well. */
export function Form({ onSubmit, children }: { onSubmit: () => unknown; children: ComponentChildren }) {
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
