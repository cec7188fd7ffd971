/** Places of a neighbourhood on two rings around its middle: those of the outer ring stand behind the one that leads to them. */
import type { Neighbour, Neighbourhood } from "./data";

export interface Placed extends Neighbour {
  x: number;
  y: number;
  /** In degrees, 0 to the right. */
  angle: number;
}

export interface Size {
  /** Radii of the two rings. */
  radii: readonly [number, number];
  /** Half of the width. */
  half: number;
  letters: number;
  isDense: boolean;
}

const MANY = 24;

/** Few have large names on a small picture, many the reverse. */
export function sizeOf({ nodes }: Neighbourhood): Size {
  return nodes.length > MANY
    ? { radii: [190, 360], half: 600, letters: 22, isDense: true }
    : { radii: [150, 285], half: 500, letters: 15, isDense: false };
}

export function places({ nodes, links }: Neighbourhood, radii: Size["radii"]): Map<string, Placed> {
  const rings = [0, 1, 2].map((ring) => nodes.filter((node) => node.ring === ring));
  const [middle = [], inner = [], outer = []] = rings;
  const ringOf = new Map(nodes.map(({ para_id, ring }) => [para_id, ring]));
  const parents = new Map<string, string>();
  for (const { source, target } of links) {
    for (const [one, other] of [[source, target], [target, source]] as const) {
      if (ringOf.get(one) === 2 && ringOf.get(other) === 1 && !parents.has(one)) parents.set(one, other);
    }
  }
  // Each one of the inner ring gets as much of the circle as it has behind it.
  const behind = new Map(inner.map(({ para_id }) => [para_id, outer.filter((node) => parents.get(node.para_id) === para_id)]));
  const weight = (node: Neighbour) => Math.max(1, behind.get(node.para_id)?.length ?? 0);
  const whole = inner.reduce((sum, node) => sum + weight(node), 0);
  const placed = new Map<string, Placed>();
  for (const node of middle) placed.set(node.para_id, { ...node, x: 0, y: 0, angle: 0 });
  let start = -90;
  for (const node of inner) {
    const width = (360 * weight(node)) / whole;
    placed.set(node.para_id, at(node, start + width / 2, radii[0]));
    const children = behind.get(node.para_id) ?? [];
    // Beside the ray of the inner one, on which its name stands.
    children.forEach((child, index) => {
      placed.set(child.para_id, at(child, start + (width * (index + 0.75)) / children.length, radii[1]));
    });
    start += width;
  }
  return placed;
}

function at(node: Neighbour, angle: number, radius: number): Placed {
  const radians = (angle * Math.PI) / 180;
  return { ...node, angle, x: Math.round(radius * Math.cos(radians)), y: Math.round(radius * Math.sin(radians)) };
}
