/** Transcription of an entry's recording: under way, missing, or repeated. */
import { Button } from "~/components/button";
import { Notice, Progress } from "~/components/layout";
import { useResource } from "~/state/resource";
import { may } from "~/state/session";
import { askFor, cancel, ofEntries, retry, type VoiceStatus, voiceStatus } from "~/state/voice";
import { said } from "~/text/server_sentences";
import type { Entry } from "./data";
import { t } from "./texts";

export interface Voice {
  status: VoiceStatus;
  jobs: Awaited<ReturnType<typeof ofEntries>>;
}

/** Voice of all entries at once: a day may have hundreds of recordings, and each news of one would have each ask. */
export function useVoice(entries: Entry[]): Voice | undefined {
  const paths = may("voice") ? entries.flatMap(({ audio_path }) => audio_path ?? []) : [];
  const folders = [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/"))))].sort();
  const load = async (signal: AbortSignal) =>
    folders.length ? { status: await voiceStatus(signal), jobs: await ofEntries(folders, signal) } : undefined;
  return useResource(load, folders.join("\n"), ["voice"]).value;
}

export function Spoken({ entry, id, name, voice }: { entry: Entry; id: string; name: string; voice: Voice }) {
  if (!entry.audio_path) return null;
  const { status } = voice;
  const job = voice.jobs.get(id);
  const path = entry.audio_path;
  const canAsk = may("voice", "write");
  if (status.kind === "none") return entry.content ? null : <p class="muted">{t("no_voice")}</p>;
  const isOpen = job && ["waiting", "working", "transcribed"].includes(job.state);
  if (isOpen) {
    return (
      <div class="spoken">
        {job.error ? (
          <p class="muted">{t("spoken_later", { reason: said(job.error.message) })}</p>
        ) : (
          <>
            <p class="muted">{t(job.state === "waiting" ? "spoken_waits" : "spoken_works")}</p>
            <Progress value={job.progress ?? undefined} label={t("spoken_works")} />
          </>
        )}
        {canAsk && job.error && <Button label={t("spoken_now")} onPress={() => retry(job.id)} />}
        {canAsk && <Button label={t("cancel")} kind="quiet" onPress={() => cancel(job.id)} />}
      </div>
    );
  }
  const again = () => askFor({ path, entry: id, again: true });
  return (
    <div class="spoken">
      {job?.state === "failed" && job.error && <Notice kind="warning">{t("spoken_failed", { reason: said(job.error.message) })}</Notice>}
      {canAsk && !entry.content && <Button label={t("spoken_ask", { name })} icon="microphone" onPress={again} />}
      {canAsk && entry.content && job?.state === "done" && !job.error && (
        <Button label={t("spoken_again", { name })} icon="refresh" iconOnly kind="quiet" onPress={again} />
      )}
    </div>
  );
}
