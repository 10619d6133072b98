import type { Command } from 'commander'
import { definitions } from '../shop/settings/definitions.ts'
import { listSettings, parseSettingKey, setSetting, setting, unsetSetting } from '../shop/settings/settings.ts'
import type { Db } from '../platform/db/database.ts'
import { table } from './output.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'

export function define(program: Command): void {
  const group = program.command('settings').description('what can be changed while the shop runs')
  runs(addCommand(group, 'list', 'every setting with its value', 'settings list'), 'migrated', ({ app }) => {
    const settings = listSettings(app.db)
    const rows = settings.map(({ key, value, default: standard }) => [
      key,
      show(value),
      value === standard ? '' : show(standard)
    ])
    return { json: { settings }, human: table(['Setting', 'Value', 'Default'], rows) }
  })
  runs(addCommand(group, 'get <key>', 'one setting', 'settings get shop.name'), 'migrated', ({ app }, key: string) =>
    answer(app.db, key)
  )
  runs(
    addCommand(
      group,
      'set <key> <value>',
      'change a setting; a running server sees it at once',
      'settings set checkout.guest false'
    ),
    'migrated',
    ({ app, now }, key: string, value: string) => {
      setSetting(app.db, parseSettingKey(key), value, now)
      return answer(app.db, key)
    }
  )
  runs(
    addCommand(group, 'unset <key>', 'back to the default', 'settings unset checkout.guest'),
    'migrated',
    ({ app }, key: string) => {
      unsetSetting(app.db, parseSettingKey(key))
      return answer(app.db, key)
    }
  )
}

function answer(db: Db, name: string): Answer {
  const key = parseSettingKey(name)
  const value = setting(db, key)
  const { default: standard, about } = definitions[key]
  return {
    json: { key, value, default: standard },
    human: [`${key} = ${show(value)}`, `${about} (default ${show(standard)})`]
  }
}

function show(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
