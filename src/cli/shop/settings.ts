import { Help } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import { changeModule, changeSetting, resetSetting } from '../../operations/change-setting.ts'
import { definitions } from '../../shop/settings/definitions.ts'
import { listSettings, parseSettingKey, setting, listModules, parseModuleName } from '../../shop/settings/settings.ts'
import type { SettingView } from '../../shop/settings/settings.ts'
import { isTermsVersion } from '../../shop/affiliates/gate.ts'
import type { Db } from '../../platform/db/database.ts'
import { mostColumns } from '../terminal/output.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, runs } from '../run.ts'
import { moduleTable } from '../../shop/settings/modules.ts'
import { table } from '../terminal/table.ts'

export function define(program: ShopCommand): void {
  const group = program.command('settings').description('settings that apply while the shop runs')
  runs(addCommand(group, 'list', 'list the settings with their values', 'settings list'), ({ app }) => {
    const settings = listSettings(app.db)
    const human = settings.flatMap((view) => explained(view))
    return { json: { settings }, human }
  })
  runs(addCommand(group, 'get <key>', 'show one setting', 'settings get shop.name'), ({ app }, key: string) =>
    answer(app.db, key)
  )
  runs(
    addCommand(
      group,
      'set <key> <value>',
      'change a setting; a running server applies it immediately',
      'settings set checkout.guest false'
    ),
    ({ app, now, terminal }, key: string, value: string) => {
      changeSetting(app.db, parseSettingKey(key), value, now)
      if (key === 'affiliates.termsVersion' && value !== '' && !isTermsVersion(value)) {
        terminal.messages.warn(
          'This is neither a date (2026-01-31) nor a semver (1.2.0): affiliates get an error while gating is on.'
        )
      }
      return answer(app.db, key)
    }
  )
  runs(
    addCommand(group, 'unset <key>', 'reset a setting to its default', 'settings unset checkout.guest'),
    ({ app, now }, key: string) => {
      resetSetting(app.db, parseSettingKey(key), now)
      return answer(app.db, key)
    }
  )
}

function answer(db: Db, name: string): Answer {
  const key = parseSettingKey(name)
  const value = setting(db, key)
  const { default: standard, about } = definitions[key]
  return { json: { key, value, default: standard }, human: explained({ key, value, default: standard, about }) }
}

/** A setting with its value, and indented below it the rest of a long value and its meaning. */
function explained({ key, value, default: standard, about }: Omit<SettingView, 'type'>): string[] {
  const moved = show(value) === show(standard) ? '' : ` (default ${show(standard)})`
  const [first = '', ...rest] = folded(`${key} = ${show(value)}${moved}`)
  return [first, ...[...rest, ...folded(about)].map((line) => indent + line)]
}

const indent = '    '

function folded(text: string): string[] {
  return new Help().boxWrap(text, mostColumns - indent.length).split('\n')
}

/** A list has spaces between its values, so that it can be folded. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}

export function defineModules(program: ShopCommand): void {
  const group = program.command('modules').description('switch modules on and off; their data is hidden, not deleted')
  runs(addCommand(group, 'list', 'list the modules', 'modules list'), listed)
  for (const enabled of [true, false]) {
    const verb = enabled ? 'enable' : 'disable'
    runs(
      addCommand(
        group,
        `${verb} <name>`,
        `${verb} a module; a running server applies it immediately`,
        `modules ${verb} affiliates`
      ),
      (work: Work<object>, name: string) => {
        changeModule(work.app.db, parseModuleName(name), enabled, work.now)
        return listed(work)
      }
    )
  }
}

function listed({ app }: Work<object>): Answer {
  const modules = listModules(app.db)
  return {
    json: { modules },
    human: table(
      ['Module', 'State', 'About'],
      modules.map(({ name, enabled }) => [name, enabled ? 'on' : 'off', moduleTable[name].about])
    )
  }
}
