/** The screen of the address, loaded when it is opened for the first time. */
import { useEffect } from "preact/hooks";
import { Failure, Loading } from "~/components/layout";
import { screens } from "~/screens";
import { go, here, place, to } from "~/state/router";
import { me } from "~/state/session";
import { useLate } from "./late";

const SET_UP = "welcome";

export function Current() {
  const { screen: name, rest, query } = place.value;
  const known = screens();
  const screen = known.find((candidate) => candidate.name === name);
  const { part: Shown, error } = useLate(screen?.load);
  useEffect(() => {
    const first = known.find(({ group }) => group !== null);
    // A computer that nobody has set up begins with that; any other screen is there all the same.
    const begins = !name && me.value?.set_up === false && known.find((candidate) => candidate.name === SET_UP);
    // Whoever has gone elsewhere since it was drawn is not sent to the first screen.
    if (!screen && (begins || first) && here().screen === name) go(to((begins || first)!.name), { replace: true });
  }, [name, screen]);
  // Its file is gone once the computer has been updated; a reload brings the new program.
  if (error) return <Failure error={error} again={() => location.reload()} />;
  return Shown && screen ? <Shown key={name} rest={rest} query={query} /> : <Loading />;
}
