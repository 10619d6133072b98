export type Progress = { step: (text: string) => void; done: () => void }

/**
 * Tells on a terminal what a long command is at, on one line that the next step overwrites; says nothing where standard
 * error is no terminal or the answer is JSON.
 */
export function showProgress(asJson: boolean): Progress {
  const shows = process.stderr.isTTY && !asJson
  const clear = '\r\u001B[K'
  return {
    step: (text) => void (shows && process.stderr.write(`${clear}${fitting(text)} …`)),
    done: () => void (shows && process.stderr.write(clear))
  }
}

/** A line that went on below could not be cleared; a terminal that does not know its width says 0. */
function fitting(text: string): string {
  return text.slice(0, (process.stderr.columns || 80) - 3)
}

/** Shows `text` while `work` is done; gone before anything else is printed. */
export function whileShowing<T>(asJson: boolean, text: string, work: () => T): T {
  const progress = showProgress(asJson)
  progress.step(text)
  try {
    return work()
  } finally {
    progress.done()
  }
}
