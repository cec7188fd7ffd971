/** The modules that came with the computer: what each may do, and one button that agrees to those that are chosen. */
import { useRef, useState } from "preact/hooks";
import { api } from "~/api/client";
import { Button } from "~/components/button";
import { Switch } from "~/components/field";
import { Badge, Loaded, Notice, Progress } from "~/components/layout";
import type { Offer } from "~/components/with_module";
import { useResource } from "~/state/resource";
import { explain } from "~/text/errors";
import { said } from "~/text/server_sentences";
import { type PartProps, titleOf } from "./models";
import { t } from "./texts";

interface Installing {
  name: string;
  done: number;
  all: number;
}

export function ModulesStep({ reload, onDone }: PartProps) {
  // What may be agreed to is asked for once: each look stages every module.
  const offers = useResource((signal) => api.get<{ modules: Offer[] }>("/api/modules/official", { signal }), "official");
  return (
    <Loaded of={offers}>
      {({ modules }) => (
        <Offers
          offers={modules}
          reload={async () => {
            await offers.reload();
            await reload();
          }}
          onDone={onDone}
        />
      )}
    </Loaded>
  );
}

interface OffersProps {
  offers: Offer[];
  reload: () => Promise<void>;
  onDone: () => void;
}

function Offers({ offers, reload, onDone }: OffersProps) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [now, setNow] = useState<Installing>();
  const [error, setError] = useState<unknown>();
  const isStopped = useRef(false);
  const wanted = offers.filter(({ name, installed, hash }) => !installed && hash && !left.has(name));
  const choose = (name: string, isOn: boolean) => {
    const rest = new Set(left);
    if (isOn) rest.delete(name);
    else rest.add(name);
    setLeft(rest);
  };
  const install = async () => {
    isStopped.current = false;
    setError(undefined);
    let isWhole = true;
    try {
      for (const [done, { name, source, hash }] of wanted.entries()) {
        if (isStopped.current) {
          isWhole = false;
          break;
        }
        setNow({ name, done, all: wanted.length });
        await api.post("/api/modules/install", { body: { source, hash } });
      }
    } catch (problem) {
      isWhole = false;
      setError(problem);
    }
    await reload();
    setNow(undefined);
    if (isWhole) onDone();
  };
  return (
    <>
      <ul class="welcome-modules">
        {offers.map((offer) => (
          <li key={offer.name}>
            <Line offer={offer} isOn={!left.has(offer.name)} isBusy={now !== undefined} onChange={(isOn) => choose(offer.name, isOn)} />
          </li>
        ))}
      </ul>
      <div role="status">
        {now && (
          <Notice>
            <p>{t("installing", { name: titleOf(now.name), number: now.done + 1, all: now.all })}</p>
            <Progress value={now.done / now.all} label={t("installed_part")} />
            {now.done + 1 < now.all && <Button label={t("stop_after")} onPress={() => void (isStopped.current = true)} />}
          </Notice>
        )}
        {error !== undefined && (
          <Notice kind="danger">
            <p>{explain(error)}</p>
          </Notice>
        )}
      </div>
      {!now && wanted.length > 0 && <Button label={t("install", { n: wanted.length })} kind="primary" onPress={install} />}
    </>
  );
}

function Line({ offer, isOn, isBusy, onChange }: { offer: Offer; isOn: boolean; isBusy: boolean; onChange: (isOn: boolean) => void }) {
  const title = titleOf(offer.name);
  if (offer.installed) {
    return (
      <div class="row-title">
        <span>{title}</span>
        <Badge text={t("installed")} kind="good" />
      </div>
    );
  }
  return (
    <>
      <Switch
        label={title}
        hint={said(offer.problem ?? offer.description ?? "")}
        isOn={isOn && Boolean(offer.hash)}
        disabled={isBusy || !offer.hash}
        onChange={onChange}
      />
      {offer.text && (
        <details class="fold">
          <summary>{t("may", { name: title })}</summary>
          <pre class="text-block" tabIndex={0}>
            {offer.text}
          </pre>
        </details>
      )}
    </>
  );
}
