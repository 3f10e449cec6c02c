// The figures of a replay in their order, or of several on the same axes.
import type { RunView } from "../data";
import type { Spec } from "../figure";
import { marginals, spectrum } from "./burstiness";
import { activeConnections, durations, lateness, queueLengths, queueOverTime, replaysOf, responses, strata, throughputOverTime, type Shown } from "./replay";

const MAKERS: ((shown: Shown[]) => Spec | null)[] = [durations, responses, queueLengths, queueOverTime, activeConnections, throughputOverTime, strata, marginals, spectrum, lateness];

/** `prefix` keeps the names of figures apart when a run in detail stands on the same page. */
export function replayFigures(runs: RunView[], prefix = ""): Spec[] {
  const shown = replaysOf(runs);
  return MAKERS.flatMap((make) => {
    const spec = shown.length ? make(shown) : null;
    return spec ? [{ ...spec, id: `${prefix}${spec.id}` }] : [];
  });
}
