/** Everything around the screens: signing in, navigation, what is stopped or not reachable, and notes. */
import { useEffect } from "preact/hooks";
import { Toasts } from "~/components/toasts";
import { Failure, Loading } from "~/components/layout";
import { keepForLater } from "~/state/kept";
import { connect, disconnect } from "~/state/live";
import { go } from "~/state/router";
import { isSignedIn, load, me, signIn } from "~/state/session";
import { attempt, dialogs } from "~/state/toasts";
import { useResource } from "~/state/resource";
import { Banners } from "./banners";
import { Current } from "./current";
import { Navigation } from "./navigation";
import { SignIn } from "./sign_in";

/** A pairing code that the address brought; it is taken out of the address before anything else happens. */
function codeOfAddress(): string | null {
  const code = /^#pair=([\w-]{4,20})$/.exec(location.hash)?.[1] ?? null;
  if (code) go("#/", { replace: true });
  return code;
}

async function begin(): Promise<true> {
  const code = codeOfAddress();
  if (code) await attempt(() => signIn({ code }));
  if (!me.value?.signed_in) await load();
  return true;
}

export function App() {
  const start = useResource(begin, "start");
  useEffect(() => {
    if (!isSignedIn.value) return;
    void connect();
    keepForLater();
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
  return (
    <div class="app">
      <Navigation />
      <div class="app-main">
        <Banners />
        <main id="main">
          <Current />
        </main>
      </div>
    </div>
  );
}
