/** Markdown as the words that it shows, for one line of a list; also where its own lines are joined already. */

export function plain(text: string): string {
  return text
    .replace(/^\s*---\s+[\w-]+:\s[^]*?\s---(?=\s|$)/, "")
    .replace(/!?\[\[(?:[^\][|\n]*\|)?([^\][|\n]*)\]\]/g, "$1")
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/^\s*(?:#{1,6}|[-*+>]|\d+\.)\s+/gm, "")
    .replace(/(^|\s)(?:#{1,6}|-{3,}|(?:- )?\[[ x]\])(?:\s+|$)/g, "$1")
    .replace(/(\*\*|__|`|~~)(.+?)\1/g, "$2")
    .replace(/(^|\s)[*_](\S.*?)[*_](?=\s|[.,;:!?]|$)/g, "$1$2")
    .replace(/\s+/g, " ")
    .trim();
}
