import { resolve } from 'node:path'
import type { ShopCommand, FileWork, Work } from '../run.ts'
import { toIso, toIsoOrNull } from '../../platform/iso-time.ts'
import { formatMoney } from '../../platform/money.ts'
import type { Restored } from '../../operations/backup/restore.ts'
import type { BackupInfo } from '../../operations/backup/inspect.ts'
import type { Answer } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs, runsOnFiles } from '../run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('backup').description('copies of the database and the secret key')
  const create = addCommand(
    group,
    'create',
    'create and verify a backup in data/backups while the shop runs',
    'backup create --json'
  ).option('--scheduled', 'mark it as scheduled, and delete the oldest scheduled backups beyond backup.keep')
  runs(create, createOne)
  runsOnFiles(addCommand(group, 'list', 'list the backups in data/backups, newest first', 'backup list'), list)
  const verify = 'check a backup by opening a shop on a copy of it'
  runsOnFiles(
    addCommand(group, 'verify <file>', verify, 'backup verify data/backups/2026-01-15T03-00-00.000Z.db'),
    check
  )
  const restore = addCommand(
    group,
    'restore <file>',
    'replace the database with a verified backup; the old database is kept beside it',
    'backup restore data/backups/2026-01-15T03-00-00.000Z.db --yes'
  ).option('--yes', 'do not ask for confirmation')
  runsOnFiles(restore, putBack)
}

async function createOne(work: Work<{ scheduled?: boolean }>): Promise<Answer> {
  const { app, options } = work
  const { backUp } = await import('../../operations/backup/backups.ts')
  const { notIncluded } = await import('../../operations/backup/manifest.ts')
  const progress = showProgress(work)
  const info = await backUp(app, options.scheduled ? 'scheduled' : 'manual', progress.step).finally(progress.done)
  const { file, bytes, additions } = info
  const missing = notIncluded(app.config.dataDir)
  return {
    json: { ...toJson(info), additions, notIncluded: missing },
    human: [`${file} (${size(bytes)}), verified.`, ...warningOf(additions), ...noteOf(missing)]
  }
}

async function list({ config }: FileWork<object>): Promise<Answer> {
  const { backupFolder } = await import('../../operations/backup/create.ts')
  const { backupFiles } = await import('../../operations/backup/manifest.ts')
  const { summarizeBackup } = await import('../../operations/backup/inspect.ts')
  const folder = backupFolder(config.dataDir)
  const backups = backupFiles(folder).map(summarizeBackup)
  const rows = backups.map(({ file, bytes, verified }) => [
    file.slice(folder.length + 1),
    size(bytes),
    verified ? 'verified' : 'DOUBTFUL'
  ])
  return {
    json: { backups: backups.map(toJson) },
    human: rows.length === 0 ? `There are no backups in ${folder}.` : [folder, table(['File', 'Size', 'State'], rows)]
  }
}

async function check(work: FileWork<object>, file: string): Promise<Answer> {
  const { verifyBackup } = await import('../../operations/backup/backups.ts')
  const progress = showProgress(work)
  try {
    const { counts, additions, ...info } = verifyBackup(work.config, resolve(file), progress.step)
    progress.done()
    const filled = Object.entries(counts).filter(([, count]) => count > 0)
    return {
      json: { ...toJson(info), counts, additions },
      human: [`${info.file} is valid.`, ...warningOf(additions), table(['Table', 'Rows'], filled)]
    }
  } finally {
    progress.done()
  }
}

async function putBack(work: FileWork<{ yes?: boolean }>, file: string): Promise<Answer> {
  const { config, options, now, terminal } = work
  const { restore } = await import('../../operations/backup/backups.ts')
  await confirmOrRefuse(terminal, `Replace the database in ${config.dataDir} with this backup?`, options)
  const progress = showProgress(work)
  const done = await restore(config, { file: resolve(file) }, now, progress.step).finally(progress.done)
  return {
    json: { ...done, restored: true, createdAt: toIso(done.createdAt) },
    human: [
      `The shop has been restored to ${toIso(done.createdAt)}.`,
      ...(done.kept === null ? [] : [`The previous database: ${done.kept}`]),
      ...lostNotes(done),
      ...(done.secretRestored ? [] : ['The backup contains no secret key: set SHOPSTEAD_SECRET to its earlier value.']),
      'Files in downloads/ and media/ are not part of a backup: copy them too. "shopstead offers images retry" fetches missing pictures.',
      'If this version of Shopstead is newer than the backup, run "shopstead migrate". Then start the server.'
    ]
  }
}

/** What the operator must know about payouts that a restore lost. */
export function lostNotes({ lostPayouts }: Pick<Restored, 'lostPayouts'>): string[] {
  if (lostPayouts === null)
    return [
      'The shop could not read the replaced database: compare the payouts to affiliates since the backup with your bank before the next one.'
    ]
  if (lostPayouts.length === 0) return []
  const named = lostPayouts.map(({ code, amountMinor, currency, failed }) => {
    const payout = `${formatMoney(amountMinor, currency)} to ${code}`
    return failed ? `${payout} (failed)` : payout
  })
  return [
    `Payouts to affiliates that the restored database does not have, or not their failure: ${named.join(', ')}. "payouts pay" waits until "shopstead payouts adopt" has recorded them.`
  ]
}

function warningOf(additions: readonly string[]): string[] {
  return additions.length === 0
    ? []
    : [`Warning: it has what is not part of Shopstead: ${additions.join(', ')}. An upgrade may drop it.`]
}

function noteOf(folders: readonly string[]): string[] {
  const names = folders.map((name) => `${name}/`).join(' and ')
  return folders.length === 0 ? [] : [`It does not contain ${names}. Copy these files too.`]
}

function toJson({ file, bytes, createdAt, verified }: BackupInfo): object {
  return { file, bytes, createdAt: toIsoOrNull(createdAt), verified }
}

function size(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
