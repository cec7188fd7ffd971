/** The frame in which Mermaid draws: it has no origin and no network, and answers with the text of a picture. */
import mermaid from "mermaid";

interface Wanted {
  id: number;
  text: string;
  colours: Record<string, string>;
  fontFamily: string;
  isDark: boolean;
}

const MOST_EDGES = 500;
/** Settings that no text of a diagram changes; the one layout is the one that is here. */
const SECURE = ["secure", "securityLevel", "startOnLoad", "maxTextSize", "suppressErrorRendering", "maxEdges", "htmlLabels", "layout"];

addEventListener("message", async ({ source, data }: MessageEvent<Wanted>) => {
  if (source !== parent) return;
  try {
    mermaid.initialize(settings(data));
    const { svg } = await mermaid.render("drawn", data.text);
    parent.postMessage({ id: data.id, ...picture(svg) }, "*");
  } catch (error) {
    parent.postMessage({ id: data.id, problem: String(error) }, "*");
  }
});
parent.postMessage({ id: 0 }, "*");

function settings({ colours, fontFamily, isDark }: Wanted) {
  const colour = (name: string) => colours[name] ?? "";
  return {
    startOnLoad: false,
    securityLevel: "strict",
    secure: SECURE,
    suppressErrorRendering: true,
    // Pictures show letters of SVG the same everywhere, and HTML in it not.
    htmlLabels: false,
    layout: "dagre",
    maxEdges: MOST_EDGES,
    fontFamily,
    theme: "base",
    themeVariables: {
      darkMode: isDark,
      fontFamily,
      background: colour("surface"),
      primaryColor: colour("accent-soft"),
      primaryTextColor: colour("text"),
      primaryBorderColor: colour("accent"),
      secondaryColor: colour("sunken"),
      tertiaryColor: colour("ground"),
      textColor: colour("text"),
      lineColor: colour("muted"),
      titleColor: colour("text"),
      edgeLabelBackground: colour("surface"),
    },
  } as const;
}

/** The drawing as XML that is well-formed, with the size that it is to have. */
function picture(text: string) {
  const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  if (!svg) throw new Error("nothing was drawn");
  const [, , width = 0, height = 0] = (svg.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.removeAttribute("style");
  return { svg: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: Math.ceil(height) };
}
