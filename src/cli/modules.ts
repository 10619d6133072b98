import type { ShopCommand } from './command.ts'
import { moduleTable } from '../shop/settings/modules.ts'
import { listModules, parseModuleName, switchModule } from '../shop/settings/settings.ts'
import type { Work } from './run.ts'
import type { Answer } from './output.ts'
import { table } from './table.ts'
import { addCommand, runs } from './run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('modules').description('switch modules on and off; their data is hidden, not deleted')
  runs(addCommand(group, 'list', 'list the modules', 'modules list'), 'migrated', answer)
  for (const enabled of [true, false]) {
    const verb = enabled ? 'enable' : 'disable'
    runs(
      addCommand(
        group,
        `${verb} <name>`,
        `${verb} a module; a running server applies it immediately`,
        `modules ${verb} affiliates`
      ),
      'migrated',
      (work: Work<object>, name: string) => {
        switchModule(work.app.db, parseModuleName(name), enabled, work.now)
        return answer(work)
      }
    )
  }
}

function answer({ app }: Work<object>): Answer {
  const modules = listModules(app.db)
  return {
    json: { modules },
    human: table(
      ['Module', 'State', 'About'],
      modules.map(({ name, enabled }) => [name, enabled ? 'on' : 'off', moduleTable[name].about])
    )
  }
}
