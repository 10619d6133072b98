import type { App } from '../app.ts'
import type { Clock } from '../platform/clock.ts'
import { toIso } from '../platform/iso-time.ts'
import { describeError } from '../platform/log.ts'
import { eventDetails } from '../shop/customers/event-details.ts'
import { startMailer } from '../shop/mailer/mailer.ts'
import type { EventCursor } from '../shop/payments/webhook.ts'
import { startPace, settlePayments } from '../shop/payments/reconcile.ts'
import { startWebhookSender } from '../shop/webhooks/sender.ts'
import { startBackupSchedule } from './backup/schedule.ts'
import { recordJob } from './failed-jobs.ts'
import { cleanUp } from './housekeeping.ts'
import { warnOfDifferences } from './reports/payments/differences.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Running background work. `stop` resolves when the current run has finished. */
export type Jobs = { stop(): Promise<void> }

/**
 * Starts the server's background work: it sends email and webhooks, settles open payments, ends expired holds, compares
 * payments with Stripe once a day, makes backups and deletes expired rows. Requests do not depend on any of it. A failed
 * job is logged and runs again at its next time. `shopstead health` shows it, and a job whose run takes too long.
 *
 * @param openSince when the server began to accept requests, in epoch milliseconds
 */
export function startJobs(app: App, openSince: number): Jobs {
  const mailer = startMailer(app)
  const webhooks = startWebhookSender(app, { detailsOf: (event, now) => eventDetails(app, event, now) })
  const backups = startBackupSchedule(app)
  app.sandbox?.start()
  const events: EventCursor = { since: null }
  const pace = startPace()
  const timers = [
    // At the start no other process works on what an earlier one left behind; new checkouts may have started.
    repeat(app, 'payments', minuteMs, async (first) => {
      await settlePayments(app, { underWay: first ? 'take' : 'leave', openSince, events, pace })
    }),
    repeat(app, 'housekeeping', hourMs, (_first, isStopped) => cleanUp(app, isStopped)),
    repeat(
      app,
      'comparison with Stripe',
      hourMs,
      onceADay(app.clock, () => warnOfDifferences(app))
    )
  ]
  return {
    async stop() {
      await Promise.all([...timers, mailer, webhooks, backups].map((work) => work.stop()))
    }
  }
}

type JobContext = Pick<App, 'config' | 'clock' | 'log'>
type Work = (first: boolean, isStopped: () => boolean) => Promise<void>

/** Runs `work` immediately and then every `everyMs`, one run at a time. */
export function repeat(app: JobContext, name: string, everyMs: number, work: Work): Jobs {
  let running: Promise<void> = Promise.resolve()
  let startedAt: number | null = null
  let stopped = false
  const run = (first: boolean): void => {
    if (startedAt !== null) return reportIfBehind(app, name, startedAt)
    startedAt = app.clock.now()
    running = work(first, () => stopped)
      .then(() => recordJob(app, name, null))
      .catch((error: unknown) => {
        app.log.error('a job failed', { job: name, error: describeError(error) })
        recordJob(app, name, describeError(error))
      })
      .finally(() => void (startedAt = null))
  }
  setImmediate(() => run(true))
  const timer = setInterval(() => run(false), everyMs)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    }
  }
}

/** A run that takes longer than this is behind. */
const behindAfterMs = 10 * minuteMs

function reportIfBehind(app: JobContext, name: string, startedAt: number): void {
  if (app.clock.now() - startedAt < behindAfterMs) return
  recordJob(app, name, `it is behind: its run of ${toIso(startedAt)} has not finished`)
}

const dayMs = 24 * 60 * 60_000

/**
 * A job for a timer that fires every hour: it skips the start, so that a server that starts often does not do its work
 * each time, runs at the next tick, and then a day after it last succeeded. A failed run is tried again at the next tick.
 */
export function onceADay(clock: Clock, work: () => Promise<unknown>): (first: boolean) => Promise<void> {
  let doneAt = Number.NEGATIVE_INFINITY
  return async (first) => {
    if (first || clock.now() - doneAt < dayMs) return
    await work()
    doneAt = clock.now()
  }
}
