/** Room that the browser has for recordings on this device. */

/** Bytes of a second of sound, until it is known. */
const USUAL = 16_000;
/** Bytes that stay free: the browser keeps its own records of what is stored. */
const RESERVE = 512_000;

/** Seconds of sound that there is room for; undefined where the browser does not say. */
export async function secondsLeft(perSecond = USUAL): Promise<number | undefined> {
  const { quota, usage } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
  if (quota === undefined || usage === undefined) return undefined;
  return Math.max(0, Math.floor((quota - usage - RESERVE) / perSecond));
}

/** Ask the browser not to remove what waits here when the device runs out of room. */
export function stay(): void {
  void navigator.storage?.persist?.().catch(() => false);
}
