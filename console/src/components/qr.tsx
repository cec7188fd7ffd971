/** A QR code, from its rows of 0 and 1, with the quiet zone that readers need. */
export function Qr({ rows, label }: { rows: readonly (readonly number[])[]; label: string }) {
  const size = rows.length + 8;
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
