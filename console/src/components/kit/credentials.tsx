/** Credentials of a place of backups, typed once and never shown again. */
import { TextField } from "~/components/field";
import { t } from "./texts";

const ASKED = {
  s3: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  b2: ["B2_ACCOUNT_ID", "B2_ACCOUNT_KEY"],
  azure: ["AZURE_ACCOUNT_NAME", "AZURE_ACCOUNT_KEY"],
  rest: ["RESTIC_REST_USERNAME", "RESTIC_REST_PASSWORD"],
} as const;

export type Typed = Record<string, string>;

function kindOf(repository: string): keyof typeof ASKED | undefined {
  const kind = repository.trim().split(":")[0] ?? "";
  return kind in ASKED ? (kind as keyof typeof ASKED) : undefined;
}

/** Return whether a place may need typed credentials. */
export function asks(repository: string): boolean {
  return kindOf(repository) !== undefined;
}

/** Return the values typed for this place, and none typed for another one before. */
export function typedFor(repository: string, values: Typed): Typed {
  const kind = kindOf(repository);
  const names: readonly string[] = kind ? ASKED[kind] : [];
  return Object.fromEntries(names.map((name) => [name, (values[name] ?? "").trim()]).filter(([, value]) => value));
}

export function Credentials({ repository, values, onChange }: { repository: string; values: Typed; onChange: (values: Typed) => void }) {
  const kind = kindOf(repository);
  if (!kind) return null;
  const [name, secret] = ASKED[kind];
  const put = (key: string) => (value: string) => onChange({ ...values, [key]: value });
  return (
    <>
      <p class="muted">{t("credentials_text")}</p>
      <TextField label={t(`${kind}_name`)} value={values[name] ?? ""} onInput={put(name)} autocomplete="off" monospace />
      <TextField label={t(`${kind}_secret`)} value={values[secret] ?? ""} onInput={put(secret)} type="password" autocomplete="off" monospace />
    </>
  );
}
