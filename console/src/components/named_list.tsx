/** Things that a name and a sentence describe, such as the tools of a server. */
export function NamedList({ entries }: { entries: readonly { name: string; description?: string }[] }) {
  return (
    <ul class="details-list">
      {entries.map(({ name, description }) => (
        <li key={name}>
          <strong>
            <bdi>{name}</bdi>
          </strong>{" "}
          <bdi class="muted">{description}</bdi>
        </li>
      ))}
    </ul>
  );
}
