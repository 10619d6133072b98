/** The time that all gateway calls of one checkout share. */
const wholeMs = 20_000
const longestCallMs = 10_000

/** The time for the gateway ran out. The call may still reach it, so its outcome is unknown. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

export type Deadline = {
  /** Runs a call within the time that is left, at most 10 s a try; stripe-node's own retries count. */
  call<T>(work: (options: { timeout: number }) => Promise<T>): Promise<T>
}

/** Counts real time, also in a shop whose clock is set by a test. */
export function startDeadline(totalMs = wholeMs): Deadline {
  const endsAt = performance.now() + totalMs
  return {
    async call(work) {
      const leftMs = Math.floor(endsAt - performance.now())
      if (leftMs <= 0) throw new DeadlinePassed('no time is left for the gateway')
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new DeadlinePassed('the gateway did not answer in time')), leftMs)
      })
      try {
        return await Promise.race([work({ timeout: Math.max(1, Math.min(leftMs, longestCallMs)) }), late])
      } finally {
        clearTimeout(timer)
      }
    }
  }
}
