import type { ShopCommand, FileWork } from '../run.ts'
import { fileMigrationStatus, otherPrograms } from '../../platform/db/migrate.ts'
import type { Answer } from '../terminal/output.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, openApp, runsOnFiles } from '../run.ts'

export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'migrate',
    'bring the database up to date; a database with data is backed up first',
    'migrate --status'
  ).option('--status', 'only show which migrations are applied and pending')
  runsOnFiles(command, (work: FileWork<{ status?: boolean }>) => (work.options.status ? tell(work) : migrate(work)))
}

export function defineInit(program: ShopCommand): void {
  const about = 'begin a new shop: create its database in an empty data folder'
  runsOnFiles(addCommand(program, 'init', about, 'init --data-dir /var/lib/shopstead'), init)
}

async function init({ config, terminal }: FileWork<object>): Promise<Answer> {
  const { initShop } = await import('../../operations/init-shop.ts')
  const shopId = await initShop(config, () => openApp(terminal, config, 'create'))
  return {
    json: { shopId, dataDir: config.dataDir },
    human: [
      `The shop ${shopId} begins in ${config.dataDir}.`,
      `Set SHOPSTEAD_SHOP_ID=${shopId} for the server ("shopstead systemd" does so): it then refuses every other database.`
    ]
  }
}

async function migrate(work: FileWork<object>): Promise<Answer> {
  const { migrateShop } = await import('../../operations/backup/backups.ts')
  const app = await openApp(work.terminal, work.config, 'any')
  const progress = showProgress(work)
  try {
    const { version, applied, pending, snapshot } = await migrateShop(app, { onStep: progress.step })
    progress.done()
    return {
      json: { version, applied, pending, snapshot },
      human: [
        `Database at ${version ?? 'no version yet'}.`,
        applied.length === 0 ? 'Nothing to do.' : `Applied: ${applied.join(', ')}.`,
        ...(snapshot === null ? [] : [`Backup from before the migration: ${snapshot}`])
      ]
    }
  } finally {
    progress.done()
    app.close()
  }
}

async function tell({ config }: FileWork<object>): Promise<Answer> {
  const { databaseFile } = await import('../../app.ts')
  const { version, applied, pending, other } = fileMigrationStatus(databaseFile(config))
  return {
    json: { version, applied, pending },
    human: [
      `Database at ${version ?? 'no version yet'}.`,
      other === null
        ? `${applied.length} applied, ${pending.length} pending.`
        : `${otherPrograms[other].problem}. ${otherPrograms[other].advice}`
    ]
  }
}
