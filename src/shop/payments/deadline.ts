import { setTimeout as sleep } from 'node:timers/promises'
import { isRateLimited } from './gateway-failure.ts'

/** The time that all gateway calls of one checkout share. */
const wholeMs = 20_000
const longestCallMs = 10_000
/** The pauses before a call is repeated that Stripe refused for its rate limit; stripe-node does not repeat these. */
const rateLimitPausesMs = [500, 1_000, 2_000]

/** The time for the gateway ran out. The call may still reach it, so its outcome is unknown. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

export type Deadline = {
  /**
   * Runs a call within the time that is left, at most 10 s a try; stripe-node's own retries count. A call that meets the
   * rate limit was not executed, so it is made again after a pause.
   */
  call<T>(work: (options: { timeout: number }) => Promise<T>): Promise<T>
}

/** Counts real time, also in a shop whose clock is set by a test. */
export function startDeadline(totalMs = wholeMs): Deadline {
  const endsAt = performance.now() + totalMs
  const leftMs = (): number => Math.floor(endsAt - performance.now())
  return {
    async call(work) {
      for (const pauseMs of rateLimitPausesMs) {
        try {
          return await within(leftMs(), work)
        } catch (error) {
          // Calls that were refused at the same time must not be repeated at the same time.
          const pause = pauseMs * (1 + Math.random() / 4)
          if (!isRateLimited(error) || leftMs() <= pause) throw error
          await sleep(pause)
        }
      }
      return within(leftMs(), work)
    }
  }
}

async function within<T>(leftMs: number, work: (options: { timeout: number }) => Promise<T>): Promise<T> {
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
