/** A background loop: `kick` runs it soon, `stop` ends it. */
export type Background = { start: () => void; kick: () => void; stop: () => void }

const pollMs = 500

/**
 * Once started, runs `work` when kicked and twice a second, because another process may have left work. One run at a
 * time. Does not keep the process alive. `onError` receives the message of a failed run; the loop continues.
 */
export function createBackground(work: () => Promise<unknown>, onError: (message: string) => void): Background {
  let timer: NodeJS.Timeout | undefined
  let running = false
  let again = false
  const kick = (): void => {
    if (running) again = true
    else if (timer !== undefined) setImmediate(() => void run())
  }
  const run = async (): Promise<void> => {
    if (running || timer === undefined) return
    running = true
    again = false
    try {
      await work()
    } catch (error) {
      // After stop the database is closed, so the run fails. The next process sends what is left.
      if (isStarted()) onError(error instanceof Error ? error.message : 'unknown')
    }
    running = false
    if (again) kick()
  }
  const isStarted = (): boolean => timer !== undefined
  return {
    start: () => {
      timer ??= setInterval(kick, pollMs).unref()
      kick()
    },
    kick,
    stop: () => {
      clearInterval(timer)
      timer = undefined
    }
  }
}
