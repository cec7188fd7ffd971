/** Chips below the field: kind, time and person. Each is a list of the browser's, for keys and thumbs alike. */
import { useEffect, useState } from "preact/hooks";
import { may } from "~/state/session";
import { type Filters, PERIODS } from "./filters";
import { GROUPS } from "./groups";
import { people } from "./sources";
import { t } from "./texts";

export function FilterChips({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const [known, setKnown] = useState<{ id: string; name: string }[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    // Without Knowledge there is nobody to choose.
    if (may("brain")) people(stop.signal).then(setKnown, () => {});
    return () => stop.abort();
  }, []);
  const { kind, period, person } = filters;
  const change = (some: Partial<Filters>) => onChange({ ...filters, ...some });
  return (
    <div class="chips" role="group" aria-label={t("filters")}>
      <Chip
        label={t("kind")}
        value={kind}
        options={[["", t("kind_any")], ...GROUPS.map((group) => [group, t(group)] as const)]}
        onChange={(value) => change({ kind: value })}
      />
      <Chip
        label={t("period")}
        value={period}
        options={PERIODS.map((each) => [each, t(`period_${each}`)])}
        onChange={(value) => change({ period: value })}
      />
      {known.length > 0 && (
        <Chip
          label={t("person")}
          value={person}
          options={[["", t("person_any")], ...known.map(({ id, name }) => [id, name] as const)]}
          onChange={(value) => change({ person: value })}
        />
      )}
    </div>
  );
}

function Chip<T extends string>({ label, value, options, onChange }: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  const isSet = value !== options[0]?.[0];
  return (
    <select class={isSet ? "chip chosen" : "chip"} aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
