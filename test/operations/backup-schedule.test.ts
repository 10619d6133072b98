import { Cron } from 'croner'
import { expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../src/app.ts'
import { backUp } from '../../src/operations/backup/backups.ts'
import { isBackupDue } from '../../src/operations/backup/schedule.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { testClock } from '../support/shop-context.ts'
import { configOf, quietShop, silent } from './health-support.ts'

const at = (text: string) => new Date(`2026-03-10T${text}`).getTime()
const dayMs = 24 * 60 * 60_000

it('a time of backup.schedule is due from its second on until it has its backup, whatever the clock does', async () => {
  const clock = testClock(at('02:00:00'))
  const app = createApp(configOf(await quietShop()), { database: 'migrated' }, { log: silent, clock })
  onTestFinished(() => app.close())
  setSetting(app.db, 'backup.schedule', '0 3 * * *', clock.now())
  const cron = new Cron('0 3 * * *', { paused: true })
  const isDueAt = (time: number) => {
    clock.set(time)
    return isBackupDue(app, cron)
  }
  expect(isDueAt(at('02:59:59'))).toBe(false)
  // A timer that fires a moment early.
  expect(isDueAt(at('02:59:59.995'))).toBe(true)
  expect(isDueAt(at('03:00:00.004'))).toBe(true)
  // The server was down at three.
  expect(isDueAt(at('07:30:00'))).toBe(true)
  clock.set(at('03:00:01'))
  await backUp(app, 'scheduled')
  expect(isDueAt(at('03:00:02'))).toBe(false)
  expect(isDueAt(at('02:50:00'))).toBe(false)
  expect(isDueAt(at('03:00:00.100'))).toBe(false)
  expect(isDueAt(at('03:00:00.100') + dayMs)).toBe(true)
  // The clock was years ahead when the schedule was set.
  setSetting(app.db, 'backup.schedule', '0 3 * * *', at('02:00:00') + 4000 * dayMs)
  expect(isDueAt(at('03:00:00.100') + 3 * dayMs)).toBe(true)
})
