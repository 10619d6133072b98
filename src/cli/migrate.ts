import type { Command } from 'commander'
import { migrateDatabase, migrationStatus } from '../platform/db/migrate.ts'
import { addCommand, runs } from './run.ts'

export function define(program: Command): void {
  const command = addCommand(
    program,
    'migrate',
    'bring the database up to date, making it if there is none',
    'migrate'
  ).option('--status', 'only tell what is applied and what is pending')
  runs(command, 'create', ({ app, options }: { app: import('../app.ts').App; options: { status?: boolean } }) => {
    const { version, applied, pending } = options.status ? migrationStatus(app.db) : migrateDatabase(app.db)
    const told = options.status
      ? `${applied.length} applied, ${pending.length} pending.`
      : applied.length === 0
        ? 'Nothing to do.'
        : `Applied: ${applied.join(', ')}.`
    return { json: { version, applied, pending }, human: [`Database at ${version ?? 'no version yet'}.`, told] }
  })
}
