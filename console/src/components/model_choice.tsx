/** Choice of a model by the name that conversations, workspaces and agents have for it. */
import { api } from "~/api/client";
import { Choice } from "~/components/field";
import { useResource } from "~/state/resource";

interface Props {
  label: string;
  hint?: string;
  /** Text of the choice of none. */
  none: string;
  value: string;
  isAtHome?: boolean;
  onChange: (model: string) => void;
}

export function ModelChoice({ label, hint, none, value, isAtHome, onChange }: Props) {
  const found = useResource(async (signal) => (await api.get("/supervisor/models", { signal })).models, "models", ["settings"]);
  const known = (found.value ?? []).filter((model) => !isAtHome || model.at_home).map(({ id, display_name }) => ({ value: id, label: display_name }));
  // What was chosen stays to be seen, also where its provider does not answer now.
  const chosen = value && !known.some((each) => each.value === value) ? [{ value, label: value }] : [];
  return <Choice label={label} hint={hint} value={value} options={[{ value: "", label: none }, ...chosen, ...known]} onChange={onChange} />;
}
