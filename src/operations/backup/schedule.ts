import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { Cron } from 'croner'
import type { App } from '../../app.ts'
import { isFromFuture } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { describeError } from '../../platform/log.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { setting, settingChangedAt } from '../../shop/settings/settings.ts'
import { backupFolder } from './create.ts'
import { backupFiles, kindOf, timeOf } from './manifest.ts'

const lookEveryMs = 2_000

type BackupSchedule = { stop(): Promise<void> }

/**
 * Makes backups at the times in `backup.schedule`, in the server's local time, and checks every 2 seconds whether the
 * setting changed. Each time gets one backup, also when the clock is set back or the server starts again in that minute;
 * a time that passed while no server ran gets its backup at the start. Each backup runs in its own process, because
 * reading a whole database would block requests for seconds.
 */
export function startBackupSchedule(app: App): BackupSchedule {
  let line = ''
  let cron: Cron | undefined
  let running: Promise<void> | undefined
  let child: ChildProcess | undefined
  let isReadable = true
  const run = (): void => {
    running ??= makeDueBackup(app, cron, (started) => void (child = started))
      .catch((error: unknown) => {
        app.log.error('a scheduled backup could not be started', { error: describeError(error) })
      })
      .finally(() => {
        running = undefined
        child = undefined
      })
  }
  const look = (): void => {
    let wanted: string
    try {
      wanted = setting(app.db, 'backup.schedule')
      isReadable = true
    } catch (error) {
      // The previous schedule stays in use. Consecutive failures produce one log line.
      if (isReadable) app.log.error('backup.schedule could not be read', { error: describeError(error) })
      isReadable = false
      return
    }
    if (wanted === line) return
    line = wanted
    cron?.stop()
    cron = wanted === '' ? undefined : schedule(app, wanted, run)
  }
  look()
  run()
  const timer = setInterval(look, lookEveryMs)
  return {
    async stop() {
      clearInterval(timer)
      cron?.stop()
      child?.kill()
      await running
    }
  }
}

function schedule(app: App, line: string, run: () => void): Cron | undefined {
  try {
    return new Cron(line, { unref: true }, run)
  } catch (error) {
    app.log.error('backup.schedule is not a valid cron expression: no scheduled backups are made', {
      error: describeError(error)
    })
    return undefined
  }
}

/** Whether the last time of the schedule has passed since the schedule was set, and has no backup. */
export function isBackupDue({ config, db, clock }: App, cron: Cron): boolean {
  const now = clock.now()
  // Croner counts in whole seconds and leaves out the given one; a timer can fire a moment early.
  const [last] = cron.previousRuns(1, new Date(now + 1_010))
  const setAt = settingChangedAt(db, 'backup.schedule')
  if (last === undefined || (last.getTime() < setAt && !isFromFuture(setAt, now))) return false
  const [next] = cron.nextRuns(1, last)
  const end = next?.getTime() ?? Infinity
  return !backupFiles(backupFolder(config.dataDir)).some((file) => {
    const at = timeOf(file)
    return kindOf(file) === 'scheduled' && at >= last.getTime() && at < end
  })
}

/** Nothing is inherited. NODE_OPTIONS, for example, would run code in the child. */
function childEnvironment({ env, secret }: Config): NodeJS.ProcessEnv {
  return { SHOPSTEAD_ENV: env, ...(secret === null ? {} : { SHOPSTEAD_SECRET: secret }) }
}

async function makeDueBackup(app: App, cron: Cron | undefined, onStart: (child: ChildProcess) => void): Promise<void> {
  if (cron !== undefined && isBackupDue(app, cron)) await makeBackup(app, onStart)
}

function tryToLower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // The process has ended, or the system does not allow it.
  }
}

async function makeBackup(app: App, onStart: (child: ChildProcess) => void): Promise<void> {
  const args = ['backup', 'create', '--scheduled', '--json', '--data-dir', app.config.dataDir]
  const child = spawn(process.execPath, [join(packageRoot, 'bin', 'shopstead.js'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: childEnvironment(app.config)
  })
  onStart(child)
  // Reading and verifying takes a core for 17 s per gigabyte. Requests come first.
  if (child.pid !== undefined) tryToLower(child.pid)
  let answer = ''
  // When the process has no free file descriptor, the spawn fails and stdout does not exist.
  child.once('spawn', () => child.stdout.setEncoding('utf8').on('data', (text: string) => void (answer += text)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code === 0) app.log.info('a scheduled backup was made')
  else if (code !== null) app.log.error('a scheduled backup failed', { reason: answer.trim() })
}
