/** The list of suggestions above the field, as a list box that the field's keys move in. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Icon } from "~/components/icons";
import { useId } from "~/components/ids";
import { useDebounced } from "~/state/debounced";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { t } from "./composer_texts";
import { commands, matching, mentions, type Place, type Suggestion, type Typed, typedAt } from "./suggesting";

const PAUSE = 200;

export interface Suggesting {
  found: readonly Suggestion[];
  chosen: number;
  id: string;
  /** True if the key was for the list. */
  onKey: (event: KeyboardEvent) => boolean;
  take: (suggestion: Suggestion) => void;
}

/** Suggestions for what stands before the cursor; `onTake` gets the text with one of them, and the cursor behind it. */
export function useSuggestions(text: string, cursor: number | undefined, place: Place, onTake: (text: string, cursor: number) => void): Suggesting {
  const id = useId();
  const typed = cursor === undefined ? undefined : typedAt(text, cursor);
  const [closed, setClosed] = useState<number>();
  const [choice, setChoice] = useState<{ words: string; at: number }>({ words: "", at: 0 });
  // Escape closes the list until the word has ended.
  useEffect(() => setClosed(undefined), [typed === undefined]);
  const isShown = typed !== undefined && typed.from !== closed;
  const found = useFound(isShown ? typed : undefined, place);
  const words = `${typed?.sign}${typed?.words}`;
  const chosen = choice.words === words ? Math.min(choice.at, found.length - 1) : 0;

  const take = (suggestion: Suggestion) => {
    if (!typed) return;
    const put = suggestion.isOpen ? suggestion.text : `${suggestion.text} `;
    onTake(`${text.slice(0, typed.from)}${put}${text.slice(typed.to).replace(/^ /, "")}`, typed.from + put.length);
  };
  const onKey = (event: KeyboardEvent) => {
    if (!typed || found.length === 0 || event.isComposing || event.shiftKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChoice({ words, at: (chosen + step + found.length) % found.length });
    else if (event.key === "Escape") setClosed(typed.from);
    else if (event.key === "Enter" || event.key === "Tab") take(found[chosen] as Suggestion);
    else return false;
    event.preventDefault();
    return true;
  };
  return { found, chosen, id, onKey, take };
}

/** Return the suggestions for now; while more are on their way, those that were found before stay. */
function useFound(typed: Typed | undefined, place: Place): readonly Suggestion[] {
  const sign = typed?.sign;
  const isCommand = sign === "/";
  const key = isCommand ? JSON.stringify(place) : "";
  const all = useResource(async (signal) => (isCommand ? commands(place, signal) : []), `commands${key}`, isCommand ? ["skills", "plugins", "workspaces"] : []);
  const brain = useResource(async (signal) => sign === "@" && (await isReady("brain", signal)), `brain${sign === "@"}`);
  const words = useDebounced(sign === "@" ? typed?.words : undefined, PAUSE);
  const isSettled = words !== undefined && sign === "@" && !brain.isLoading;
  const named = useResource(async (signal) => (isSettled ? mentions(words, brain.value === true, signal) : []), `mentions${isSettled}${words}`);
  const last = useRef<Suggestion[]>([]);
  if (sign === "@" && isSettled && named.value) last.current = named.value;
  if (sign !== "@") last.current = [];
  if (isCommand) return matching(all.value ?? [], typed?.words ?? "");
  return last.current;
}

async function isReady(name: string, signal: AbortSignal): Promise<boolean> {
  if (!may(name)) return false;
  if (!may("modules")) return true;
  const { modules } = await api.get<{ modules: { name: string; state: string }[] }>("/api/modules", { signal });
  return modules.some((each) => each.name === name && each.state === "ready");
}

export function Suggestions({ found, chosen, id, take }: Suggesting) {
  return (
    <>
      <p class="visually-hidden" role="status">
        {found.length > 0 && t("found", { n: found.length })}
      </p>
      {found.length > 0 && (
        <ul class="suggested" role="listbox" id={id} aria-label={t("suggestions")}>
          {found.map((each, index) => (
            <li
              key={each.text}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              ref={(line) => void (index === chosen && line?.scrollIntoView({ block: "nearest" }))}
              // The field keeps the focus, and a phone its keyboard.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(each)}
            >
              <Icon name={each.icon} />
              <bdi class="suggested-name">{each.label}</bdi>
              <bdi class="muted">{each.hint}</bdi>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
