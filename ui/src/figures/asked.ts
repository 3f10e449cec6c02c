// The key figures of a run of mbm: what was asked of the path, and what the answer cost.
import type { RunView } from "../data";
import { bytes, count, digits, ms, unit } from "../format";

type Tile = [name: string, value: string, aside: string, to: string];

const share = (value: number | null) => (value === null ? "–" : String(Number(value.toPrecision(2))));

/** A figure that was asked for, as it was asked for. */
export const plain = (value: number | null) => (value === null ? "–" : String(Number(value.toPrecision(6))));

/** What Reno would carry at the losses that are still good, and already bad. */
function predicted(run: RunView): string {
  const reno = run.mbm!.asked.predictions.find(({ transport }) => transport === "reno");
  return reno ? `by the model Reno gets ${digits(reno.at_p0_mbps)} and ${digits(reno.at_p1_mbps)} Mbit/s there` : "";
}

export function mbmTiles(run: RunView): Tile[] {
  if (!run.mbm?.tests.length) return [];
  const { asked, tests } = run.mbm;
  const sum = (values: (number | null)[]) => values.reduce((all: number, value) => all + (value ?? 0), 0);
  const [packets, octets, seconds] = [sum(tests.map(({ packets_sent }) => packets_sent)), sum(tests.map(({ bytes_sent }) => bytes_sent)), sum(tests.map((test) => test.seconds))];
  const where = tests.some(({ walk }) => walk?.packets.length) ? "sprt" : "suite";
  const derated = asked.derating ? `, derated: ${asked.derating.reason}` : "";
  const tiles: (Tile | null)[] = [
    asked.rate_mbps === null ? null : ["Target", `${plain(asked.rate_mbps)} Mbit/s`, `over a round trip of ${plain(asked.rtt_ms)} ms${asked.name ? ` (${asked.name})` : ""}`, "suite"],
    asked.window_packets === null ? null : ["Target window", `${count(asked.window_packets)} packets`, `of ${count(asked.packet_bytes)} octets, under way at a time`, "suite"],
    asked.run_length_packets === null ? null : ["Run length", `${count(asked.run_length_packets)} packets`, `between two losses: ${asked.formula ?? "by the model"}${derated}`, where],
    asked.good_pct === null ? null : ["Loss: good up to / bad from", `${share(asked.good_pct)} / ${share(asked.bad_pct)}\u00a0%`, predicted(run), where],
    asked.path_rtt_ms === null && asked.window_packets === null ? null : ["Round trip of the path", asked.path_rtt_ms === null ? "no answer" : ms(asked.path_rtt_ms), "the least, before the tests", "suite"],
    packets ? ["Sent for this answer", bytes(octets), `${count(packets)} packets in ${unit(seconds, "s")}`, "suite"] : null,
  ];
  return tiles.filter((tile) => tile !== null);
}
