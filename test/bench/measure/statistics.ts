/** The median; for an even number of figures the upper one. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

/** The difference between the largest and the smallest figure, as a share of the median. */
export function spread(figures: readonly number[]): number {
  return (Math.max(...figures) - Math.min(...figures)) / median(figures)
}

/** Above this spread, the runs measure the machine's other load rather than the program. */
export const maxSpread = 0.2
