import type { ShopCommand } from './command.ts'
import { fileMigrationStatus } from '../platform/db/migrate.ts'
import type { Answer } from './output.ts'
import { showProgress } from './progress.ts'
import { addCommand, openApp, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'migrate',
    'bring the database up to date, making it if there is none; one that holds something is copied first',
    'migrate --status'
  ).option('--status', 'only tell what is applied and what is pending')
  runsOnFiles(command, (work: FileWork<{ status?: boolean }>) => (work.options.status ? tell(work) : migrate(work)))
}

async function migrate(work: FileWork<object>): Promise<Answer> {
  const { migrateShop } = await import('../operations/backup/backups.ts')
  const app = await openApp(work.terminal, work.config, 'create')
  const progress = showProgress(work)
  try {
    const { version, applied, pending, snapshot } = await migrateShop(app, progress.step)
    progress.done()
    return {
      json: { version, applied, pending, snapshot },
      human: [
        `Database at ${version ?? 'no version yet'}.`,
        applied.length === 0 ? 'Nothing to do.' : `Applied: ${applied.join(', ')}.`,
        ...(snapshot === null ? [] : [`As it was before: ${snapshot}`])
      ]
    }
  } finally {
    progress.done()
    app.close()
  }
}

async function tell({ config }: FileWork<object>): Promise<Answer> {
  const { databaseFile } = await import('../app.ts')
  const { version, applied, pending, newer } = fileMigrationStatus(databaseFile(config))
  return {
    json: { version, applied, pending },
    human: [
      `Database at ${version ?? 'no version yet'}.`,
      newer
        ? 'It was migrated by a newer Shopstead than this one.'
        : `${applied.length} applied, ${pending.length} pending.`
    ]
  }
}
