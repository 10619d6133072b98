export type Background = { start: () => void; kick: () => void; stop: () => void }

const pollMs = 500

/**
 * Runs `work` when kicked and twice a second, one run at a time, once started; another process may have left something
 * to do. Never keeps the process alive by itself. `onError` is told what a run failed of; the next one comes anyway.
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
      // Once stopped the database is closed; what was under way then is sent by the next process.
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
