// One visual language: a class keeps its colour in every figure. The colours are Okabe and Ito's, told apart with all
// kinds of colour vision; where one has less than 3:1 contrast with the paper, its darker or lighter form is used.

export interface Theme {
  name: "light" | "dark";
  paper: string; ink: string; faint: string; grid: string; idle: string; loaded: string; hatch: string;
  orange: string; sky: string; green: string; blue: string; vermillion: string; purple: string;
}

export const LIGHT: Theme = {
  name: "light", paper: "#ffffff", ink: "#1f2328", faint: "#59636e", grid: "#e4e8ec", idle: "#0072b20d", loaded: "#59636e1c", hatch: "#59636e",
  orange: "#b87f00", sky: "#2f8fc7", green: "#009e73", blue: "#0072b2", vermillion: "#d55e00", purple: "#b3578a",
};
export const DARK: Theme = {
  name: "dark", paper: "#11151a", ink: "#e8ecf0", faint: "#9aa4ae", grid: "#2a313a", idle: "#56b4e90f", loaded: "#9aa4ae22", hatch: "#9aa4ae",
  orange: "#e69f00", sky: "#56b4e9", green: "#1bb88c", blue: "#4a9fe0", vermillion: "#f07a2b", purple: "#d98fb8",
};

/** Order of classes wherever several are listed: the most urgent first. */
const ORDER = ["EF", "VA", "CS7", "CS6", "CS5", "AF41", "AF42", "AF43", "CS4", "AF31", "AF32", "AF33", "CS3", "AF21", "AF22", "AF23", "CS2", "AF11", "AF12", "AF13", "CS0", "CS1", "LE"];

export function byClass(a: string, b: string): number {
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return place(a) - place(b) || a.localeCompare(b);
}

export function classColour(name: string, theme: Theme): string {
  if (name === "EF" || name === "VA") return theme.vermillion;
  if (name === "CS0") return theme.blue;
  if (name === "CS1" || name === "LE") return theme.green;
  return theme.purple;
}

const CLASS_WORDS: Record<string, string> = { EF: "EF (voice)", CS0: "CS0 (best effort)", CS1: "CS1 (background)", LE: "LE (background)" };
export const classWords = (name: string) => CLASS_WORDS[name] ?? name;

export const KINDS: Record<string, string> = { udp_rr: "UDP", icmp_rr: "ICMP", tcp_connect: "TCP SYN", ws_rr: "WebSocket", wt_rr: "WebTransport", udp_paced: "UDP, paced", tcp_rr: "TCP", beside: "Beside", voip: "VoIP", dns: "DNS", web: "Web", trace: "Trace", https: "HTTPS", tcp_load: "TCP load", quic_load: "QUIC load", udp_load: "UDP load" };
export const kindWords = (kind: string) => KINDS[kind] ?? kind;
