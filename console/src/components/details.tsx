/** Subject of a decision, as text: names and values of JSON, long texts as they are, differences with their colours. */
import { Difference } from "./difference";

const LONG = 60;

export function Details({ value }: { value: unknown }) {
  if (Array.isArray(value)) {
    return (
      <ul class="details-list">
        {value.map((entry, index) => (
          <li key={index}>
            <Details value={entry} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== null && entry !== undefined && entry !== "" && !isEmpty(entry));
    return (
      <dl class="facts">
        {entries.map(([name, entry]) => (
          <div key={name} class={isLong(entry) ? "long" : ""}>
            <dt>{name.replace(/_/g, " ")}</dt>
            <dd>
              {typeof entry === "string" && /diff/.test(name) ? <Difference text={entry} /> : <Details value={entry} />}
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  const text = String(value);
  return isLong(text) ? <pre class="text-block" tabIndex={0}>{text}</pre> : <bdi>{text}</bdi>;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isLong(value: unknown): boolean {
  return typeof value === "object" ? value !== null : typeof value === "string" && (value.length > LONG || value.includes("\n"));
}
