/** Everything around the screens: signing in, navigation, what is stopped or not reachable, and notes. */
import { useEffect } from "preact/hooks";
import { Toasts } from "~/components/toasts";
import { Failure, Loading } from "~/components/layout";
import { keepForLater } from "~/state/kept";
import { connect, disconnect } from "~/state/live";
import { go, place } from "~/state/router";
import { isSignedIn, load, may, me, signIn, signInFirst } from "~/state/session";
import { attempt, dialogs } from "~/state/toasts";
import { useResource } from "~/state/resource";
import { isWide } from "~/state/wide";
import { Banners } from "./banners";
import { Current } from "./current";
import { late } from "./late";
import { Navigation } from "./navigation";
import { opened } from "./palette/open";
import { watchKeys } from "./shortcuts";
import { SignIn } from "./sign_in";

const Beside = late(() => import("~/screens/conversations/beside"));
const Palette = late(() => import("./palette/palette"));
const ShortcutsPage = late(() => import("./palette/shortcuts_page"));

/** A pairing code, or the key of a new computer, that the address brought; it is taken out of it before anything else happens. */
function ofAddress(): [string, string] | null {
  const found = /^#(pair|key)=([\w-]{4,200})$/.exec(location.hash);
  if (found) go("#/", { replace: true });
  return found?.[1] && found[2] ? [found[1], found[2]] : null;
}

// Opened in a page that is open already, such an address loads nothing by itself.
addEventListener("hashchange", () => /^#(pair|key)=/.test(location.hash) && location.reload());

async function begin(): Promise<true> {
  const [kind, secret] = ofAddress() ?? [];
  if (secret) await attempt(() => (kind === "pair" ? signIn({ code: secret }) : signInFirst(secret)));
  if (!me.value?.signed_in) await load();
  return true;
}

export function App() {
  const start = useResource(begin, "start");
  useEffect(() => {
    if (!isSignedIn.value) return;
    void connect();
    keepForLater();
    void import("~/state/reading").then(({ readAhead }) => readAhead()).catch(() => undefined);
    return disconnect;
  }, [isSignedIn.value]);
  return (
    <>
      {start.error ? <Failure error={start.error} again={start.reload} /> : start.value ? <Inside /> : <Loading />}
      {dialogs.value.length === 0 && <Toasts />}
    </>
  );
}

function Inside() {
  if (!isSignedIn.value) return <SignIn />;
  useEffect(watchKeys, []);
  // As a shortcut of the installed console asks for.
  const isSearchAsked = place.value.query.has("palette");
  useEffect(() => {
    if (isSearchAsked) opened.value = "palette";
  }, [isSearchAsked]);
  const isBeside = isWide.value && place.value.screen === "chat" && may("chat");
  return (
    <div class={`app${isBeside ? " with-beside" : ""}`}>
      <Navigation />
      {isBeside && <Beside />}
      <div class="app-main">
        <Banners />
        <main id="main">
          <Current />
        </main>
      </div>
      {opened.value === "palette" && <Palette />}
      {opened.value === "shortcuts" && <ShortcutsPage />}
    </div>
  );
}
