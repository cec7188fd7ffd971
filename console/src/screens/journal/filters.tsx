/** Chips of tags and places by which the journal is searched: all that are chosen have to fit. */
import { useResource } from "~/state/resource";
import { number } from "~/text/messages";
import { type Filter, type Label, labels } from "./data";
import { t } from "./texts";

const SHOWN = 12;

export function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const tags = useResource((signal) => labels("tags", signal), "tags", ["data"]);
  const places = useResource((signal) => labels("places", signal), "places", ["data"]);
  const flipped = (tag: string) => (filter.tags.includes(tag) ? filter.tags.filter((each) => each !== tag) : [...filter.tags, tag]);
  return (
    <>
      <Group
        name={t("tags")}
        all={tags.value}
        chosen={filter.tags}
        shown={(name) => `#${name}`}
        onPress={(tag) => onChange({ ...filter, tags: flipped(tag) })}
      />
      <Group
        name={t("places")}
        all={places.value}
        chosen={filter.place ? [filter.place] : []}
        shown={(name) => name}
        onPress={(place) => onChange({ ...filter, place: place === filter.place ? "" : place })}
      />
    </>
  );
}

interface GroupProps {
  name: string;
  all: Label[] | undefined;
  chosen: string[];
  shown: (name: string) => string;
  onPress: (name: string) => void;
}

function Group({ name, all = [], chosen, shown, onPress }: GroupProps) {
  const those = [...all.slice(0, SHOWN), ...all.slice(SHOWN).filter((each) => chosen.includes(each.name))];
  if (those.length === 0) return null;
  return (
    <div class="chips" role="group" aria-label={name}>
      {those.map((each) => (
        <button
          key={each.name}
          type="button"
          class="chip"
          aria-pressed={chosen.includes(each.name)}
          aria-label={`${shown(each.name)}, ${t("entries", { n: each.entries })}`}
          onClick={() => onPress(each.name)}
        >
          <bdi>{shown(each.name)}</bdi> <small>{number(each.entries)}</small>
        </button>
      ))}
    </div>
  );
}
