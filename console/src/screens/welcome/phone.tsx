/** The phone: its browser by one picture, or the app by a key. */
import { useState } from "preact/hooks";
import { NewDevice } from "~/components/device";
import { Notice } from "~/components/layout";
import { ConnectPhone } from "~/components/phone";
import type { StepProps } from "./models";
import { t } from "./texts";

export function PhoneStep({ known, reload }: StepProps) {
  const [count, setCount] = useState(0);
  const done = () => {
    setCount(count + 1);
    void reload();
  };
  return (
    <>
      {known.devices.length > 0 && (
        <Notice kind="good">
          <p>{t("devices", { n: known.devices.length })}</p>
          <ul>
            {known.devices.map((name, index) => (
              <li key={index}>
                <bdi>{name}</bdi>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <ConnectPhone onChange={reload} />
      <details class="phone-app">
        <summary>{t("app_instead")}</summary>
        <NewDevice key={count} onDone={done} isApp />
      </details>
    </>
  );
}
