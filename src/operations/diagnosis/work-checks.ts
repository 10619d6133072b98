import { mails } from '../../shop/mail/schema.ts'
import { count } from 'drizzle-orm'
import { Cron } from 'croner'
import type { App } from '../../app.ts'
import { isFromFuture } from '../../platform/clock.ts'
import { toIso } from '../../platform/iso-time.ts'
import { backupFolder } from '../backup/create.ts'
import { backupFiles } from '../backup/files.ts'
import { glanceAtBackup } from '../backup/inspect.ts'
import { overdueOrders } from '../../shop/orders/expire-holds.ts'
import { setting } from '../../shop/settings/settings.ts'
import { undeliveredTotals } from '../../shop/webhooks/deliveries.ts'
import { and, eq, lt, or, sql } from 'drizzle-orm'
import { failed, ok, span, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
/** The server ends holds every minute, and Stripe may have to answer first. */
const stuckAfterMs = 30 * 60_000
const staleWithoutScheduleMs = 2 * dayMs

/** What the server does without being asked, and may not have got done. */
export const workChecks: readonly Check[] = [
  {
    name: 'stuck orders',
    run({ db, clock }) {
      const [oldest, ...others] = overdueOrders(db, clock.now(), stuckAfterMs)
      if (oldest === undefined) return ok('None.')
      return warning(
        `Order ${oldest}${others.length > 0 ? ` and ${others.length} more` : ''} should no longer be pending.`,
        `Is the server running? "shopstead orders reconcile" does its work now; then "shopstead orders show ${oldest}".`
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
      return warning(`${late} messages did not go out.`, 'Is the server running? Then check the mail server.')
    }
  },
  {
    name: 'undelivered events',
    run({ db, clock }) {
      const { failed: givenUp, late } = undeliveredTotals(db, clock.now())
      if (givenUp === 0 && late === 0) return ok('None.')
      return warning(
        `${late} wait for more than an hour, ${givenUp} were given up in the last week.`,
        'See "shopstead webhooks deliveries"; "shopstead webhooks replay" sends them again.'
      )
    }
  },
  { name: 'backups', run: checkBackups }
]

function checkBackups({ config, db, clock }: App): Finding {
  const schedule = setting(db, 'backup.schedule')
  const newest = backupFiles(backupFolder(config.dataDir))
    .map(glanceAtBackup)
    // One that is dated later than now says nothing of how old it is.
    .find(({ verified, createdAt }) => verified && createdAt !== null && !isFromFuture(createdAt, clock.now()))
  if (config.env !== 'production' && schedule === '' && newest === undefined)
    return ok('None; "shopstead backup create" makes one.')
  const advice =
    schedule === ''
      ? 'Let the server make them: "shopstead settings set backup.schedule \'0 3 * * *\'".'
      : 'Look for "a scheduled backup failed" in the server\'s log, and try "shopstead backup create".'
  if (newest?.createdAt === undefined || newest.createdAt === null) {
    return failed('There is no verified backup.', advice)
  }
  const message = `The newest verified one is of ${toIso(newest.createdAt)}.`
  const age = clock.now() - newest.createdAt
  if (age <= allowedAge(schedule, clock.now())) return ok(message)
  if (config.env !== 'production' && schedule === '') return ok(message)
  return age > 7 * dayMs ? failed(`${message} That is ${span(age)} ago.`, advice) : warning(message, advice)
}

/** Twice the schedule's own pause, so that one that is being made is not missed yet. */
function allowedAge(schedule: string, now: number): number {
  if (schedule === '') return staleWithoutScheduleMs
  const cron = new Cron(schedule, { paused: true })
  const [next, afterNext] = cron.nextRuns(2, new Date(now))
  cron.stop()
  if (next === undefined || afterNext === undefined) return staleWithoutScheduleMs
  return 2 * (afterNext.getTime() - next.getTime()) + hourMs
}
