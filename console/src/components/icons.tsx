/** Drawings of one colour, 24 × 24, that stand before words or, with a label, alone. */
const PATHS = {
  inbox: "M4 13h4l2 3h4l2-3h4M4 13 6.500 5h11L20 13v6H4z",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  journal: "M6 4h12v16H6zM9 4v16M12 8h3M12 11h3",
  knowledge: "M12 5a2 2 0 1 0 0-.01M6 18a2 2 0 1 0 0-.01M18 18a2 2 0 1 0 0-.01M11 7l-4 9M13 7l4 9M8 18h8",
  files: "M4 6h6l2 2h8v11H4z",
  modules: "M4 4h7v7H4zM13 13h7v7h-7zM4 13h7v7H4zM16.500 4v7M13 7.500h7",
  capabilities: "M12 3l2.200 6.300L21 12l-6.800 2.700L12 21l-2.200-6.300L3 12l6.800-2.700z",
  workspaces: "M4 8h16v11H4zM9 8V5h6v3M4 13h16",
  schedule: "M12 4a8 8 0 1 0 .01 0M12 8v4l3 2",
  suggestions: "M9 18h6M10 21h4M8 15a6 6 0 1 1 8 0c-.6.6-1 1.300-1 2v1H9v-1c0-.7-.4-1.400-1-2z",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  costs: "M12 4a8 8 0 1 0 .01 0M14.500 9.500c-.5-1-4.500-1.500-4.500.7 0 2 4.500 1.200 4.500 3.400 0 2.300-4.300 1.900-5-.1M12 7v10",
  bots: "M6 9h12v9H6zM12 9V5M12 4.500v.01M9.500 13v.5M14.500 13v.5M3 12v3M21 12v3",
  keys: "M8 15a4 4 0 1 1 3.500-6H21v3h-2v3h-3v-3h-4.500A4 4 0 0 1 8 15zM8 11v.01",
  computer: "M4 5h16v11H4zM9 20h6M12 16v4",
  more: "M5 11.600a.4.4 0 1 0 .01 0M12 11.600a.4.4 0 1 0 .01 0M19 11.600a.4.4 0 1 0 .01 0",
  plus: "M12 5v14M5 12h14",
  home: "M4 11 12 4l8 7v9h-6v-6h-4v6H4z",
  search: "M10.500 4a6.500 6.500 0 1 0 .01 0M15.500 15.500 20 20",
  send: "M5 12h14M13 6l6 6-6 6",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.500 10 17.500 19 7",
  undo: "M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
  edit: "M4 20l1-4L16 5l3 3L8 19z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  back: "M15 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  down: "M5 9l7 7 7-7",
  attach: "M20 11l-8 8a5 5 0 0 1-7-7l8-8a3.500 3.500 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7",
  microphone: "M9 5a3 3 0 0 1 6 0v6a3 3 0 0 1-6 0zM5.500 11a6.500 6.500 0 0 0 13 0M12 17.500V21",
  warning: "M12 4 2.500 20h19zM12 10v4M12 17v.01",
  panic: "M8 3h8l5 5v8l-5 5H8l-5-5V8zM12 8v5M12 16v.01",
  play: "M8 5l11 7-11 7z",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  refresh: "M20 12a8 8 0 1 1-2.500-5.800M20 4v4h-4",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M13 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M7 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9v.01",
  branch: "M7 4v10M7 17a2 2 0 1 0 0 .01M7 4v.01M17 7a2 2 0 1 0 0 .01M17 9c0 4-10 2-10 6",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
  side: "M4 5h16v14H4zM10 5v14",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
