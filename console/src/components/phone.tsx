/** A phone in one tap: other devices are let in, then one picture signs the phone in. */
import { useEffect, useState } from "preact/hooks";
import { api, ApiError, type Schema } from "~/api/client";
import { useResource } from "~/state/resource";
import { load, me } from "~/state/session";
import { attempt, toast } from "~/state/toasts";
import { moment } from "~/text/messages";
import { Button } from "./button";
import { isLoopback } from "./device";
import { confirm } from "./dialog";
import { Choice, Form, TextField } from "./field";
import { Facts, Failure, Loaded, Notice } from "./layout";
import { t } from "./phone_texts";
import { Qr } from "./qr";
import { useSignedIn } from "./signed_in";

type Reach = Schema<"Reach">;
type Session = Schema<"Session">;
type Code = Schema<"CodeAnswer">;

const POLL = 700;
const LONGEST = 120_000;
const BEFORE_ITS_END = 45_000;

/** Wait until the computer has restarted as wanted; errors: ApiError. */
async function restarted(isReachable: boolean): Promise<Reach> {
  for (const ends = Date.now() + LONGEST; Date.now() < ends; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    try {
      const found = await api.get("/api/phone");
      if (found.problem) throw new ApiError(409, "taken_back", found.problem);
      if (found.is_reachable === isReachable) return found;
    } catch (error) {
      const isAway = error instanceof ApiError && (error.status === 0 || error.status >= 500);
      if (!isAway) throw error;
    }
  }
  throw new ApiError(503, "not_back", t("not_back"));
}

/** The button, the picture and the phone's name; `onChange` when a phone came in, or none may any more. */
export function ConnectPhone({ onChange }: { onChange: () => unknown }) {
  const found = useResource((signal) => api.get("/api/phone", { signal }), "phone", ["settings"]);
  const [step, setStep] = useState<"idle" | "restarting" | "shown">("idle");
  const [error, setError] = useState<unknown>();
  const [came, setCame] = useState<Session>();
  const connect = async (reach: Reach) => {
    setError(undefined);
    setCame(undefined);
    try {
      if (!reach.is_reachable) {
        await api.post("/api/phone");
        setStep("restarting");
        found.set(await restarted(true));
        await load();
      }
      setStep("shown");
    } catch (problem) {
      setStep("idle");
      setError(problem);
    }
  };
  const shutOut = () =>
    attempt(async () => {
      if (!(await confirm(t("off_title"), t("off_text"), t("off")))) return;
      await api.delete("/api/phone");
      setStep("restarting");
      found.set(await restarted(false));
      setStep("idle");
      toast(t("is_off"));
      await onChange();
    });
  return (
    <Loaded of={found}>
      {(reach) => (
        <div class="form">
          {error !== undefined && <Failure error={error} />}
          {came && <Connected session={came} onNamed={onChange} />}
          {step === "restarting" && <Restarting />}
          {step === "idle" && (
            <>
              {!came && <p>{t(reach.is_reachable ? "ready_text" : "text")}</p>}
              <div class="buttons">
                <Button label={t(came ? "another" : "connect")} kind={came ? "plain" : "primary"} onPress={() => connect(reach)} />
                {reach.is_reachable && <Button label={t("off")} kind="quiet" onPress={shutOut} />}
              </div>
            </>
          )}
          {step === "shown" && (
            <Picture
              reach={reach}
              onConnected={(session) => {
                setCame(session);
                setStep("idle");
                void onChange();
              }}
              onClose={() => setStep("idle")}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}

const STEPS = ["step_network", "step_trust", "step_restart"] as const;

function Restarting() {
  return (
    <Notice>
      <div role="status">
        <ol class="steps">
          {STEPS.map((step) => (
            <li key={step}>{t(step)}</li>
          ))}
        </ol>
      </div>
    </Notice>
  );
}

/** The picture, renewed as long as this browser may, until a device elsewhere has come in. */
function Picture({ reach, onConnected, onClose }: { reach: Reach; onConnected: (session: Session) => void; onClose: () => void }) {
  // Over whatever way this page came from elsewhere, the phone comes, too.
  const isHere = isLoopback(location.hostname);
  const [address, setAddress] = useState((isHere && reach.addresses[0]) || "");
  const [code, setCode] = useState<Code>();
  const [error, setError] = useState<unknown>();
  const show = async () => {
    setError(undefined);
    try {
      setCode(await api.post("/api/pairing/codes", { body: address ? { address } : {} }));
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => void show(), [address]);
  useEffect(() => {
    if (!code) return;
    const left = Date.parse(code.expires_at) - Date.now() - BEFORE_ITS_END;
    const timer = setTimeout(async () => {
      await load();
      // Nobody is asked to confirm for a picture that nobody may be looking at.
      if (Date.parse(me.value?.confirmed_until ?? "") > Date.now()) await show();
      else setCode(undefined);
    }, left);
    return () => clearTimeout(timer);
  }, [code]);
  useSignedIn(onConnected, true);
  const networks = reach.addresses.map((value) => ({ value, label: value }));
  if (!isHere) networks.unshift({ value: "", label: location.host });
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      {code && code.qr.length > 0 ? (
        <>
          <p>{t("scan")}</p>
          <div class="pairing">
            <Qr rows={code.qr} label={code.url} />
          </div>
          <Facts facts={[[t("or_open"), <code>{code.url}</code>]]} />
          <p class="muted">{t("valid", { time: moment(code.expires_at, { timeStyle: "short" }) })}</p>
        </>
      ) : (
        <Button label={t("show")} kind="primary" onPress={show} />
      )}
      {networks.length > 1 && (
        <Choice
          label={t("network")}
          hint={t("network_hint")}
          value={address}
          options={networks}
          onChange={setAddress}
        />
      )}
      <p class="muted">{t("nothing_opens", { port: String(reach.port) })}</p>
      <div class="buttons">
        <Button label={t("close")} onPress={onClose} />
      </div>
    </>
  );
}

function Connected({ session, onNamed }: { session: Session; onNamed: () => unknown }) {
  const [name, setName] = useState(session.name);
  const [kept, setKept] = useState(session.name);
  const rename = () =>
    attempt(async () => {
      await api.patch("/api/pairing/sessions/{identifier}", { params: { identifier: session.id }, body: { name: name.trim() } });
      setKept(name.trim());
      await onNamed();
    });
  return (
    <Notice kind="good">
      <p role="status">{t("connected", { name: kept })}</p>
      <Form onSubmit={rename}>
        <TextField label={t("name")} value={name} onInput={setName} required autocomplete="off" />
        {name.trim() !== kept && <Button label={t("save_name")} kind="primary" submit />}
      </Form>
      <p class="muted">{t("trust")}</p>
    </Notice>
  );
}
