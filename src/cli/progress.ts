/**
 * Tells on a terminal what a long command is at, on one line that the next step overwrites; says nothing where standard
 * error is no terminal or the answer is JSON.
 */
export function showProgress(asJson: boolean): { step: (text: string) => void; done: () => void } {
  const shows = process.stderr.isTTY && !asJson
  const clear = '\r\u001B[K'
  return {
    step: (text) => void (shows && process.stderr.write(`${clear}${text} …`)),
    done: () => void (shows && process.stderr.write(clear))
  }
}
