/** The logs of units: the last lines, and those that come while somebody looks. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { events } from "~/api/stream";
import { Button } from "~/components/button";
import { Choice } from "~/components/field";
import { Failure, Loaded, Loading } from "~/components/layout";
import { useResource } from "~/state/resource";
import { bytes } from "~/text/messages";
import { t } from "./texts";

const SHOWN = 300;
const MOST = 5000;

export function Logs() {
  const found = useResource((signal) => api.get("/api/logs/units", { signal }), "units");
  const [chosen, setChosen] = useState<string>();
  return (
    <Loaded of={found}>
      {({ units }) => {
        const unit = chosen ?? units.find((each) => each.unit === "core")?.unit ?? units[0]?.unit;
        if (!unit) return <p class="muted">{t("no_logs")}</p>;
        const options = units.map((each) => ({ value: each.unit, label: `${each.unit} · ${bytes(each.bytes)}` }));
        return (
          <>
            <Choice label={t("unit")} value={unit} options={options} onChange={setChosen} />
            <Log key={unit} unit={unit} />
          </>
        );
      }}
    </Loaded>
  );
}

function Log({ unit }: { unit: string }) {
  const [lines, setLines] = useState<string[]>();
  const [error, setError] = useState<unknown>();
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    const stop = new AbortController();
    void follow(unit, isFollowing, stop.signal, setLines).catch((problem) => !stop.signal.aborted && setError(problem));
    return () => stop.abort();
  }, [unit, isFollowing]);
  const frame = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (isFollowing && frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  }, [lines, isFollowing]);
  if (error !== undefined) return <Failure error={error} />;
  if (!lines) return <Loading />;
  return (
    <>
      <div class="computer-line">
        <p class="muted">{t("log_hint")}</p>
        <Button label={isFollowing ? t("hold") : t("follow")} icon={isFollowing ? "stop" : "play"} onPress={() => setFollowing(!isFollowing)} />
      </div>
      <pre ref={frame} class="text-block computer-log" tabIndex={0} role="log" aria-label={t("log_of", { unit })} aria-live="off">
        {lines.length ? lines.join("\n") : t("empty_log")}
      </pre>
    </>
  );
}

/** The end of a log; with `isFollowing` also what comes, until the signal. */
async function follow(unit: string, isFollowing: boolean, signal: AbortSignal, show: (lines: string[]) => void): Promise<void> {
  if (!isFollowing) return;
  let all: string[] = [];
  const path = `/api/logs/${encodeURIComponent(unit)}`;
  for await (const { lines } of events<{ lines: string[] }>("GET", path, { query: { lines: SHOWN, follow: true }, signal })) {
    all = [...all, ...lines].slice(-MOST);
    show(all);
  }
}
