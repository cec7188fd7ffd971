/** Formulas as MathML; what draws them is loaded when the first one is seen. Until then, and where it fails, the source stands as code. */
import DOMPurify from "dompurify";
import { whenSeen } from "./seen";

const MOST_CHARACTERS = 5_000;
/** Em that a rule or space is wide and high at most. */
const LARGEST: [number, number] = [50, 50];
const MOST_EXPANSIONS = 500;

export function typeset(root: ParentNode): void {
  for (const code of root.querySelectorAll<HTMLElement>("code.formula")) {
    if ((code.textContent ?? "").length <= MOST_CHARACTERS) whenSeen(code, () => void draw(code).catch(() => code.classList.add("failed")));
  }
}

async function draw(code: HTMLElement): Promise<void> {
  const { default: temml } = await import("temml");
  const displayMode = code.classList.contains("display");
  const options = { displayMode, throwOnError: true, trust: false, maxSize: LARGEST, maxExpand: MOST_EXPANSIONS };
  const formula = temml.__renderToMathMLTree(code.textContent ?? "", options).toNode() as Element;
  // It is cleaned where it is: styles that a parser reads are refused by the page's policy, those that a program sets are not.
  DOMPurify.sanitize(formula, { IN_PLACE: true, USE_PROFILES: { mathMl: true }, ADD_ATTR: ["class", "style", "form", "movablelimits"] });
  code.replaceWith(formula);
}
