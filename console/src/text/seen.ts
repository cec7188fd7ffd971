/** Work that waits until its element or the window is seen and the browser has nothing else to do: it holds up neither typing nor scrolling. */
const waiting = new WeakMap<Element, () => void>();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const work = isIntersecting ? waiting.get(target) : undefined;
      if (!work) continue;
      observer.unobserve(target);
      waiting.delete(target);
      idle(work);
    }
  },
  { rootMargin: "300px" },
);

/** Wait until what has been changed is on the screen, and the browser has nothing else to do. */
export function drawn(): Promise<void> {
  return new Promise((resolve) => (document.hidden ? resolve() : requestAnimationFrame(() => idle(resolve))));
}

export const idle = (work: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(work, { timeout: 1000 }) : setTimeout(work));

export function whenSeen(element: Element, work: () => void): void {
  waiting.set(element, work);
  observer.observe(element);
}

/** Wait until the window is seen; the signal says that it is not any more. */
export async function seen(ended: AbortSignal): Promise<AbortSignal> {
  const change = () => new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true, signal: ended }));
  while (document.hidden && !ended.aborted) await change();
  const hidden = new AbortController();
  void change().then(() => hidden.abort());
  return hidden.signal;
}
