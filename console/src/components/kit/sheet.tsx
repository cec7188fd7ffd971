/** The emergency kit as a sheet of paper: what is printed, and nothing else of the page. */
import { Qr } from "~/components/qr";
import { grouped, type Kit } from "./models";
import { t } from "./texts";

export function Sheet({ kit }: { kit: Kit }) {
  const facts: [string, string][] = [
    [t("place"), kit.repository],
    [t("password"), kit.password],
    ...Object.entries(kit.credentials),
    [t("fingerprint"), kit.fingerprint],
    ...(kit.needs ? [[t("needs"), t(`needs_${kit.needs}`)] as [string, string]] : []),
    [t("made"), `${kit.made_on} · Parachute Computer ${kit.version}`],
  ];
  return (
    <article class="kit-sheet" aria-label={t("title")}>
      <h2>{t("title")}</h2>
      <p>{t("keep_away")}</p>
      <div class="kit-content">
        <Qr rows={kit.qr} label={t("code")} />
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {/* Groups are set apart by style, so that what is copied has no spaces. */}
                <bdi>{value === kit.password ? grouped(value).map((part, index) => <span key={index}>{part}</span>) : value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      </div>
      <h3>{t("to_restore")}</h3>
      <ol>
        <li>{t("step_new")}</li>
        <li>{t("step_disk")}</li>
        <li>{t("step_scan")}</li>
        <li>{t("step_choose")}</li>
      </ol>
    </article>
  );
}
