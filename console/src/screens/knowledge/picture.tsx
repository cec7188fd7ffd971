/** A neighbourhood as a picture; the table below it says the same to those who do not see it. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { to } from "~/state/router";
import type { Neighbourhood } from "./data";
import { type Placed, places, sizeOf } from "./radial";

const COLOURS = 6;
/** Names of attributes in a picture have no capitals. */
const NO_TAB = { tabindex: -1 };

export function Picture({ of, types }: { of: Neighbourhood; types: string[] }) {
  const { radii, half, letters, isDense } = sizeOf(of);
  const placed = places(of, radii);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = frame.current;
    if (shown) shown.scrollLeft = (shown.scrollWidth - shown.clientWidth) / 2;
  }, [of.para_id]);
  const colour = (type: string) => `node-${types.indexOf(type) % COLOURS}`;
  return (
    <div ref={frame} class={`picture${isDense ? " dense" : ""}`}>
      <svg viewBox={`${-half} ${-half} ${2 * half} ${2 * half}`} aria-hidden="true">
        {radii.map((radius) => (
          <circle key={radius} class="ring" r={radius} />
        ))}
        {of.links.map(({ source, target }) => {
          const [one, other] = [placed.get(source), placed.get(target)];
          return one && other && <line key={`${source} ${target}`} x1={one.x} y1={one.y} x2={other.x} y2={other.y} />;
        })}
        {[...placed.values()].map((node) => (
          <a key={node.para_id} href={to("knowledge", ["entity", node.para_id])} {...NO_TAB} class={colour(node.type)}>
            <title>{node.name}</title>
            <circle cx={node.x} cy={node.y} r={node.ring === 0 ? 16 : node.ring === 1 ? 11 : 8} />
            <Label node={node} letters={letters} />
          </a>
        ))}
      </svg>
    </div>
  );
}

function Label({ node, letters }: { node: Placed; letters: number }) {
  const name = node.name.length > letters ? `${node.name.slice(0, letters - 1)}…` : node.name;
  if (node.ring === 0) {
    return (
      <text class="middle" y={42} text-anchor="middle">
        {name}
      </text>
    );
  }
  const turn = ((node.angle % 360) + 360) % 360;
  const isLeft = turn > 90 && turn < 270;
  const away = node.ring === 1 ? 18 : 15;
  return (
    <text
      transform={`rotate(${isLeft ? turn + 180 : turn} ${node.x} ${node.y}) translate(${isLeft ? -away : away} 0)`}
      x={node.x}
      y={node.y}
      dominant-baseline="central"
      text-anchor={isLeft ? "end" : "start"}
    >
      {name}
    </text>
  );
}
