/** The screen of the address, loaded when it is opened for the first time. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "~/components/layout";
import { type ScreenProps, screens } from "~/screens";
import { go, here, place, to } from "~/state/router";
import { me } from "~/state/session";

const SET_UP = "welcome";

const loaded = new Map<string, ComponentType<ScreenProps>>();

export function Current() {
  const { screen: name, rest, query } = place.value;
  const known = screens();
  const screen = known.find((candidate) => candidate.name === name);
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const first = known.find(({ group }) => group !== null);
    // A computer that nobody has set up begins with that; any other screen is there all the same.
    const begins = !name && me.value?.set_up === false && known.find((candidate) => candidate.name === SET_UP);
    // Whoever has gone elsewhere since it was drawn is not sent to the first screen.
    if (!screen && (begins || first) && here().screen === name) go(to((begins || first)!.name), { replace: true });
    if (!screen || loaded.has(name)) return;
    setError(undefined);
    screen.load().then(
      (module) => {
        loaded.set(name, module.default);
        redraw((count) => count + 1);
      },
      // Its file is gone once the computer has been updated; a reload brings the new program.
      (problem: unknown) => setError(problem),
    );
  }, [name, screen]);
  if (error) return <Failure error={error} again={() => location.reload()} />;
  const Shown = loaded.get(name);
  return Shown && screen ? <Shown key={name} rest={rest} query={query} /> : <Loading />;
}
