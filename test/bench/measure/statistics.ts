/** The middle one; of an even number the upper middle. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** How far apart the runs of one thing are, as a share of their median. */
export function spread(figures: readonly number[]): number {
  return (Math.max(...figures) - Math.min(...figures)) / median(figures)
}

/** Past this, runs of the same thing tell more of the machine than of the thing. */
export const mostSpread = 0.2
