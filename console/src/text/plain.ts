/** Markdown as the words that it shows, for one line of a list. */

const FRONT_MATTER = /^---[ \t]*\r?\n(?:[\w-]+:.*\r?\n(?:(?:[ \t]|- ).*\r?\n)*)+---[ \t]*(?:\r?\n|$)/;
/** No sentence ends in it: what begins with a rule goes on with sentences, and is to be seen. */
const JOINED_FRONT_MATTER = /^\s*---\s+[\w-]+:\s(?:(?![.!?]\s)[^])*?\s---(?=\s|$)/;

export function plain(text: string): string {
  return words(text.replace(FRONT_MATTER, "").replace(/^[ \t]*-{3,}[ \t]*$/gm, ""));
}

/** The same of a text whose lines the server has joined: marks of lines stand anywhere in it. */
export function plainJoined(text: string): string {
  return words(
    text
      .replace(JOINED_FRONT_MATTER, "")
      .replace(/(^|\s)(?:#{1,6}(?!\s+\d)|-{3,}|(?:- )?\[[ x]\])(?:\s+|$)/g, "$1"),
  );
}

function words(text: string): string {
  return text
    .replace(/!?\[\[(?:[^\][|\n]*\|)?([^\][|\n]*)\]\]/g, "$1")
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/^[ \t]*(?:#{1,6}|[-*+>]|\d+\.)[ \t]+(?:\[[ x]\][ \t]+)?/gm, "")
    .replace(/(\*\*|__|`|~~)(.+?)\1/g, "$2")
    .replace(/(^|\s)[*_](\S.*?)[*_](?=\s|[.,;:!?]|$)/g, "$1$2")
    .replace(/\s+/g, " ")
    .trim();
}
