import type { Bidi } from 'bidi-js'

/** Part of a text: the index of its first character, and of the one after its last. */
type Line = { start: number; end: number }

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}]/u

/** Whether a text has letters that run from right to left. */
export function hasRightToLeft(text: string): boolean {
  return rightToLeft.test(text)
}

/**
 * Breaks a text into lines at its spaces. A word that is wider than a line is broken anywhere.
 *
 * @param fits whether a text fits on a line
 */
export function breakLines(text: string, fits: (part: string) => boolean): Line[] {
  const lines: Line[] = []
  let start = 0
  while (start < text.length) {
    const end = endOfLine(text, start, fits)
    lines.push({ start, end })
    start = end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0)
  }
  return lines
}

function endOfLine(text: string, start: number, fits: (part: string) => boolean): number {
  const ends = (pattern: RegExp) =>
    [...text.slice(start).matchAll(pattern)].map((at) => start + at.index + at[0].length)
  const fitting = (candidates: number[]) => lastFitting(candidates, (end) => fits(text.slice(start, end)))
  const letters = ends(/\P{Mark}\p{Mark}*/gu)
  return fitting(ends(/\S+/g)) ?? fitting(letters) ?? letters[0] ?? text.length
}

/** The last of the ends before the first that does not fit. */
function lastFitting(ends: readonly number[], fits: (end: number) => boolean): number | undefined {
  const tooWide = ends.findIndex((end) => !fits(end))
  return tooWide === -1 ? ends.at(-1) : ends[tooWide - 1]
}

/**
 * The runs of each line from left to right, by the Unicode bidirectional algorithm (UAX #9). Each run has one direction and
 * is in the order in which it is read, except signs alone: a font has no direction for them.
 */
export function visualRuns(bidi: Bidi, text: string, lines: readonly Line[]): string[][] {
  const levels = bidi.getEmbeddingLevels(text, 'auto')
  const isReversed = (index: number): boolean => (levels.levels[index] ?? 0) % 2 === 1
  return lines.map(({ start, end }) => {
    const runs: { from: number; to: number; reversed: boolean }[] = []
    // The result has every index of the text, and only those of the line in a new order.
    for (const index of bidi.getReorderedIndices(text, levels, start, end - 1).slice(start, end)) {
      const [run, reversed] = [runs.at(-1), isReversed(index)]
      if (run?.reversed === reversed && index === (reversed ? run.from - 1 : run.to))
        Object.assign(run, reversed ? { from: index } : { to: index + 1 })
      else runs.push({ from: index, to: index + 1, reversed })
    }
    return runs.flatMap(({ from, to, reversed }) =>
      reversed ? reversedRuns(bidi, text.slice(from, to)) : [text.slice(from, to)]
    )
  })
}

/** A run from right to left, by scripts, because a font shapes one at a time. Brackets open to the other side. */
function reversedRuns(bidi: Bidi, run: string): string[] {
  const mirrored = Array.from(run, (character) => bidi.getMirroredCharacter(character) ?? character).join('')
  const scripts = mirrored.match(/\P{Script=Hebrew}+|\P{Script=Arabic}+/gu) ?? []
  return scripts.toReversed().map((part) => (hasRightToLeft(part) ? part : Array.from(part).toReversed().join('')))
}
