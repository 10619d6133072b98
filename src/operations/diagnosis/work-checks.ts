import { connect } from 'node:net'
import { Cron } from 'croner'
import { count, and, eq, lt, or, sql } from 'drizzle-orm'
import type { App } from '../../app.ts'
import { isFromFuture } from '../../platform/clock.ts'
import { toIso } from '../../platform/iso-time.ts'
import { mails } from '../../shop/mail/schema.ts'
import { overdueOrders } from '../../shop/orders/holds.ts'
import { setting } from '../../shop/settings/settings.ts'
import { undeliveredTotals } from '../../shop/webhooks/deliveries.ts'
import { backupFolder } from '../backup/create.ts'
import { summarizeBackup } from '../backup/inspect.ts'
import { backupFiles } from '../backup/manifest.ts'
import { readFailedJobs } from '../failed-jobs.ts'
import { isServerRunning } from '../server-lock.ts'
import { failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
/** The server ends expired holds every minute, but may have to wait for Stripe's answer first. */
const stuckAfterMs = 30 * 60_000
const staleWithoutScheduleMs = 2 * dayMs

/** Checks whether the server's background work is late. */
export const workChecks: readonly Check[] = [
  {
    name: 'stuck orders',
    run({ db, clock }) {
      const [oldest, ...others] = overdueOrders(db, clock.now(), stuckAfterMs)
      if (oldest === undefined) return ok('None.')
      return warning(
        others.length > 0
          ? `Order ${oldest} and ${others.length} more are still pending, although their holds have expired.`
          : `Order ${oldest} is still pending, although its hold has expired.`,
        `Check that the server runs, run "shopstead orders reconcile", then look at "shopstead orders show ${oldest}".`
      )
    }
  },
  {
    name: 'undelivered mail',
    run({ db, clock }) {
      const late = db.orm
        .select({ count: count() })
        .from(mails)
        .where(
          or(
            and(eq(mails.state, 'failed'), lt(sql`${clock.now()} - ${mails.createdAt}`, 7 * dayMs)),
            and(eq(mails.state, 'queued'), lt(mails.createdAt, clock.now() - hourMs))
          )
        )
        .get()?.count
      if (late === undefined || late === 0) return ok('None.')
      return warning(
        `${late} messages failed, or have been queued for more than an hour.`,
        'Run "shopstead mail test ADDRESS" with your own address: it says what the mail server answers. The server tries again by itself.'
      )
    }
  },
  {
    name: 'undelivered events',
    run({ db, clock }) {
      const { failed: givenUp, late } = undeliveredTotals(db, clock.now())
      if (givenUp === 0 && late === 0) return ok('None.')
      return warning(
        `${late} deliveries have waited for more than an hour; ${givenUp} failed permanently in the last week.`,
        'Run "shopstead webhooks deliveries" to see them and why, and "shopstead webhooks replay --failed" to send them again.'
      )
    }
  },
  { name: 'backups', run: checkBackups }
]

function checkBackups({ config, db, clock }: App): Finding {
  const schedule = setting(db, 'backup.schedule')
  const never = schedule !== '' && new Cron(schedule, { paused: true }).nextRun(new Date(clock.now())) === null
  if (never)
    return failed(
      `The time of backup.schedule (${schedule}) never comes: no backups are made.`,
      'Run "shopstead settings set backup.schedule \'0 3 * * *\'".'
    )
  const backups = backupFiles(backupFolder(config.dataDir)).map(summarizeBackup)
  const [last] = backups
  if (last !== undefined && !last.verified)
    return failed(
      `The newest backup, ${last.file}, is damaged.`,
      `Look for disk errors in "dmesg", delete the file ("rm ${last.file}"), and run "shopstead backup create".`
    )
  const newest = backups
    // The age of a backup dated in the future is unknown.
    .find(({ verified, createdAt }) => verified && createdAt !== null && !isFromFuture(createdAt, clock.now()))
  if (config.env !== 'production' && schedule === '' && newest === undefined)
    return ok('None. "shopstead backup create" makes one.')
  const advice =
    schedule === ''
      ? 'Schedule backups: run "shopstead settings set backup.schedule \'0 3 * * *\'".'
      : 'Look for "a scheduled backup failed" in the server\'s log, and run "shopstead backup create".'
  if (newest?.createdAt === undefined || newest.createdAt === null) {
    return failed('The shop has no verified backup.', advice)
  }
  const message = `The newest verified backup was made at ${toIso(newest.createdAt)}.`
  const age = clock.now() - newest.createdAt
  if (age <= allowedAge(schedule, clock.now())) return ok(message)
  if (config.env !== 'production' && schedule === '') return ok(message)
  return age > 7 * dayMs ? failed(`${message} That is ${span(age)} ago.`, advice) : warning(message, advice)
}

/** Twice the schedule's interval, so that a backup in progress does not count as missing. */
function allowedAge(schedule: string, now: number): number {
  if (schedule === '') return staleWithoutScheduleMs
  const cron = new Cron(schedule, { paused: true })
  const [next, afterNext] = cron.nextRuns(2, new Date(now))
  cron.stop()
  if (next === undefined || afterNext === undefined) return staleWithoutScheduleMs
  return 2 * (afterNext.getTime() - next.getTime()) + hourMs
}

const timeoutMs = 2_000
/** What starts the server, for the advice of every check that needs it. */
export const startIt =
  'Start the server: "systemctl start shopstead". If it does not stay up, "journalctl -u shopstead -n 50" says why.'

export const serverChecks: readonly Check[] = [
  { name: 'server', run: checkServer },
  { name: 'background work', run: checkJobs }
]

/** A job that fails runs again at its next time, within an hour; the record ends when it succeeds. */
function checkJobs({ config }: App): Finding {
  const [first, ...others] = Object.entries(readFailedJobs(config.dataDir))
  if (first === undefined) return ok('No job failed in its last run, and none is behind.')
  const describe = ([job, { error, at }]: typeof first): string =>
    `The job "${job}" had a problem at ${toIso(at)}: ${error}`
  return warning(
    [first, ...others].map(describe).join('\n'),
    '"journalctl -u shopstead -n 50" shows more. The server tries again by itself, at the latest after an hour; "systemctl restart shopstead" makes it try now.'
  )
}

async function checkServer({ config }: App): Promise<Finding> {
  if (isServerRunning(config.dataDir)) return ok('A server runs on this data folder.')
  const found = config.env === 'production' ? failed : warning
  if (config.port !== 0 && (await isTaken(config.host, config.port)))
    return found(
      `No server runs on this data folder, and another program listens on its port ${config.port}.`,
      `"ss -ltnp sport = :${config.port}" shows that program: stop it, or set SHOPSTEAD_PORT. ${startIt}`
    )
  return config.env === 'production'
    ? failed('No server runs on this data folder.', startIt)
    : ok('No server runs on this data folder.')
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const end = (taken: boolean) => () => {
      socket.destroy()
      resolve(taken)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}
