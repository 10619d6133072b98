import type { Terminal } from './terminal.ts'

export type Progress = { step: (text: string) => void; done: () => void }

/** The parts of a command's work that decide whether its progress is shown. */
export type Watched = { terminal: Terminal; json: boolean }

/**
 * Shows on a terminal what a long command is doing, on one line that the next step overwrites. It shows nothing when
 * standard error is not a terminal or the answer is JSON.
 */
export function showProgress({ terminal: { stderr }, json }: Watched): Progress {
  const shows = stderr.isTTY && !json
  const clear = '\r\u001B[K'
  // A line that wrapped could not be cleared. A terminal that does not know its width reports 0.
  const fitting = (text: string): string => text.slice(0, (stderr.columns || 80) - 3)
  let isShown = false
  return {
    step: (text) => {
      if (!shows) return
      isShown = true
      stderr.write(`${clear}${fitting(text)} …`)
    },
    done: () => void (isShown && stderr.write(clear))
  }
}

/** Shows `text` while `work` runs, and clears it before anything else is printed. */
export function whileShowing<T>(watched: Watched, text: string, work: () => T): T {
  const progress = showProgress(watched)
  progress.step(text)
  try {
    return work()
  } finally {
    progress.done()
  }
}
