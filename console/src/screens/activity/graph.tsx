/** Graph of requests: a picture of the busiest, and a table of all. */
import { useState } from "preact/hooks";
import { api, type Schema } from "~/api/client";
import { Chips, Loaded } from "~/components/layout";
import { useResource } from "~/state/resource";
import { number } from "~/text/messages";
import { actor, duration, type Titles } from "./sentences";
import { t } from "./texts";

type Edge = Pick<Schema<"Edge">, "from" | "to" | "requests" | "failures" | "total_ms">;

type Hours = "1" | "24" | "168";

const MOST_DRAWN = 24;
const ROW = 30;

export function ActivityGraph({ titles }: { titles: Titles }) {
  const [hours, setHours] = useState<Hours>("24");
  const found = useResource((signal) => api.get("/api/audit/graph", { query: { hours }, signal }), hours, ["runs"]);
  return (
    <>
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
            <Shown edges={named(edges, titles)} />
          )
        }
      </Loaded>
    </>
  );
}

function Shown({ edges }: { edges: Edge[] }) {
  return (
    <>
      <Picture edges={edges} />
      <Table edges={edges} />
    </>
  );
}

/** Edges between names, which several nodes may share. */
function named(edges: Edge[], titles: Titles): Edge[] {
  const name = (node: string) => nodeName(node, titles);
  const found = new Map<string, Edge>();
  for (const { from, to, ...counts } of edges) {
    const key = JSON.stringify([name(from), name(to)]);
    const before = found.get(key);
    found.set(key, {
      from: name(from),
      to: name(to),
      requests: counts.requests + (before?.requests ?? 0),
      failures: counts.failures + (before?.failures ?? 0),
      total_ms: counts.total_ms + (before?.total_ms ?? 0),
    });
  }
  return [...found.values()];
}

/** `module:daily` as `daily`, and other nodes in words; conversations by their titles. */
function nodeName(node: string, titles: Titles): string {
  const [kind = "", rest = ""] = [node.slice(0, node.indexOf(":")), node.slice(node.indexOf(":") + 1)];
  if (kind === "module") return rest === "None" ? "–" : rest;
  return rest === kind || !rest ? kind : actor(kind, rest, titles);
}

const NARROW = { width: 360, side: 124, letters: 15 };
const WIDE = { width: 640, side: 190, letters: 22 };

function Picture({ edges }: { edges: Edge[] }) {
  const { width, side, letters } = innerWidth < 640 ? NARROW : WIDE;
  const drawn = [...edges].sort((one, other) => other.requests - one.requests).slice(0, MOST_DRAWN);
  const sources = [...new Set(drawn.map(({ from }) => from))];
  const targets = [...new Set(drawn.map(({ to }) => to))];
  const height = Math.max(sources.length, targets.length) * ROW + 10;
  const place = (nodes: string[], node: string) => (height / nodes.length) * (nodes.indexOf(node) + 0.5);
  const shortened = (text: string) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
  return (
    <svg class="activity-graph" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t("picture")}>
      {drawn.map((edge) => {
        const [from, to] = [place(sources, edge.from), place(targets, edge.to)];
        return (
          <path
            key={`${edge.from} ${edge.to}`}
            class={edge.failures ? "failed" : ""}
            d={`M${side} ${from} C ${width / 2} ${from}, ${width / 2} ${to}, ${width - side} ${to}`}
            stroke-width={1 + 1.6 * Math.log10(edge.requests)}
          />
        );
      })}
      {sources.map((node) => (
        <text key={node} x={side - 8} y={place(sources, node) + 5} text-anchor="end">
          {shortened(node)}
        </text>
      ))}
      {targets.map((node) => (
        <text key={node} x={width - side + 8} y={place(targets, node) + 5}>
          {shortened(node)}
        </text>
      ))}
    </svg>
  );
}

function Table({ edges }: { edges: Edge[] }) {
  const sorted = [...edges].sort((one, other) => other.requests - one.requests);
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={t("graph")}>
      <table>
        <thead>
          <tr>
            {(["from", "to", "requests", "failures", "mean"] as const).map((key) => (
              <th key={key} scope="col" class={key === "from" || key === "to" ? undefined : "number"}>
                {t(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((edge) => (
            <tr key={`${edge.from} ${edge.to}`}>
              <td>
                <bdi>{edge.from}</bdi>
              </td>
              <td>
                <bdi>{edge.to}</bdi>
              </td>
              <td class="number">{number(edge.requests)}</td>
              <td class="number">{number(edge.failures)}</td>
              <td class="number">{duration(edge.total_ms / edge.requests)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
