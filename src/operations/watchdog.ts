import { routesSince } from '../platform/http/routing.ts'
import type { Logger } from '../platform/log.ts'

const everyMs = 20
const blockedMs = 100
/** Routes in one log line. */
const maxRoutes = 10

export type Watchdog = { stop(): void }

/**
 * Logs each time that the event loop was blocked for 100 ms or longer, with the routes of the requests that were in
 * progress: one of them took the time, or a job did if there are none. A timer measures it, so requests cost nothing
 * more. A paused or overloaded machine shows the same.
 */
export function startWatchdog(log: Pick<Logger, 'warn'>): Watchdog {
  let lastRun = performance.now()
  const timer = setInterval(() => {
    const since = lastRun
    lastRun = performance.now()
    const lateMs = lastRun - since - everyMs
    if (lateMs >= blockedMs) {
      const routes = routesSince(since)
      log.warn('the event loop was blocked', {
        ms: Math.round(lateMs),
        routes: routes.slice(0, maxRoutes).join(', ') || 'none'
      })
    }
  }, everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
