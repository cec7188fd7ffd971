/** Who asked whom: a picture of the busiest, and a table of all. */
import { useState } from "preact/hooks";
import { api } from "~/api/client";
import { Chips, Loaded, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { number } from "~/text/messages";
import { t } from "./texts";

interface Edge {
  from: string;
  to: string;
  requests: number;
  failures: number;
  total_ms: number;
}

type Hours = "1" | "24" | "168";

const MOST_DRAWN = 24;
const ROW = 34;
const WIDTH = 640;

export function ActivityGraph() {
  const [hours, setHours] = useState<Hours>("24");
  const found = useResource((signal) => api.get<{ edges: Edge[] }>("/api/audit/graph", { query: { hours }, signal }), hours);
  return (
    <Section title={t("graph")}>
      <Chips
        label={t("hours")}
        value={hours}
        options={(["1", "24", "168"] as const).map((value) => ({ value, label: t(`hours_${value}`) }))}
        onChange={setHours}
      />
      <Loaded of={found}>
        {({ edges }) =>
          edges.length === 0 ? (
            <p class="muted">{t("none")}</p>
          ) : (
            <>
              <Picture edges={edges} />
              <Table edges={edges} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

/** `module:daily` as `daily`; the kind stands before names that would say nothing alone. */
function name(node: string): string {
  const [kind = "", rest = ""] = [node.slice(0, node.indexOf(":")), node.slice(node.indexOf(":") + 1)];
  if (kind === "module") return rest === "None" ? "–" : rest;
  return rest === kind || !rest ? kind : `${kind} ${rest}`;
}

function Picture({ edges }: { edges: Edge[] }) {
  const drawn = [...edges].sort((one, other) => other.requests - one.requests).slice(0, MOST_DRAWN);
  const sources = [...new Set(drawn.map(({ from }) => from))];
  const targets = [...new Set(drawn.map(({ to }) => to))];
  const height = Math.max(sources.length, targets.length) * ROW + 10;
  const place = (nodes: string[], node: string) => (height / nodes.length) * (nodes.indexOf(node) + 0.5);
  return (
    <svg class="activity-graph" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={t("picture")}>
      {drawn.map((edge) => {
        const [from, to] = [place(sources, edge.from), place(targets, edge.to)];
        return (
          <path
            key={`${edge.from} ${edge.to}`}
            class={edge.failures ? "failed" : ""}
            d={`M190 ${from} C ${WIDTH / 2} ${from}, ${WIDTH / 2} ${to}, ${WIDTH - 190} ${to}`}
            stroke-width={1 + 1.6 * Math.log10(edge.requests)}
          />
        );
      })}
      {sources.map((node) => (
        <text key={node} x="182" y={place(sources, node) + 5} text-anchor="end">
          {shortened(name(node))}
        </text>
      ))}
      {targets.map((node) => (
        <text key={node} x={WIDTH - 182} y={place(targets, node) + 5}>
          {shortened(name(node))}
        </text>
      ))}
    </svg>
  );
}

function shortened(text: string): string {
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}

function Table({ edges }: { edges: Edge[] }) {
  const sorted = [...edges].sort((one, other) => other.requests - one.requests);
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={t("graph")}>
      <table>
        <thead>
          <tr>
            {(["from", "to", "requests", "failures", "mean"] as const).map((key) => (
              <th key={key} scope="col">
                {t(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((edge) => (
            <tr key={`${edge.from} ${edge.to}`}>
              <td>
                <bdi>{name(edge.from)}</bdi>
              </td>
              <td>
                <bdi>{name(edge.to)}</bdi>
              </td>
              <td>{number(edge.requests)}</td>
              <td>{number(edge.failures)}</td>
              <td>{t("milliseconds", { n: Math.round(edge.total_ms / edge.requests) })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
