import { join } from 'node:path'
import { listLawFiles, lawFolder, lawLanguages, lawLinks, writeLawFiles } from '../../shop/settings/law-pages.ts'
import type { LawFile } from '../../shop/settings/law-pages.ts'
import { addCommand, runs } from '../run.ts'
import type { ShopCommand } from '../run.ts'
import { plain, table } from '../terminal/table.ts'

export function define(program: ShopCommand): void {
  const group = program.command('law').description("the shop's terms, privacy policy, imprint and right of withdrawal")
  const init = addCommand(
    group,
    'init',
    'write starting texts into the data folder, for each language of the shop; files that exist stay as they are',
    'law init'
  )
  runs(init, ({ app }) => {
    const { dataDir } = app.config
    const written = writeLawFiles(app, lawLanguages(app.db)).map((name) => join(lawFolder(dataDir), name))
    const files = listLawFiles(dataDir)
    const blank = files.filter(({ blanks }) => blanks.length > 0).length
    const next =
      blank === 0
        ? []
        : [
            `${blank} files have blanks, such as [[telephone number]]. Buyers see a text when nothing in it is blank; "shopstead law list" shows what is left.`
          ]
    const done = written.length === 0 ? ['All files are there already.'] : written.map((path) => `Wrote ${path}`)
    const advice = 'These are texts to start from, not legal advice: adapt them to your shop, and have them checked.'
    return { json: { written, files }, human: [...done, ...next, ...(written.length === 0 ? [] : [advice])] }
  })
  runs(
    addCommand(group, 'list', 'list the texts, what is blank in them, and where buyers read them', 'law list'),
    ({ app }) => {
      const files = listLawFiles(app.config.dataDir)
      const links = lawLinks(app, app.config.publicUrl ?? '')
      const rows = files.map((file) => [plain(file.name), stateOf(file)])
      const shown = links.map(({ label, url }) => `${label}: ${url}`)
      const none = 'There are no texts. "shopstead law init" writes starting texts.'
      return {
        json: { files, links },
        human: [table(['File', 'State'], rows, none), ...(shown.length === 0 ? [] : ['', ...shown])]
      }
    }
  )
}

function stateOf({ blanks, problem }: LawFile): string {
  if (problem !== null) return `not shown: it ${problem}`
  return blanks.length === 0 ? 'shown' : `not shown: fill in ${blanks.map((blank) => plain(blank)).join('; ')}`
}
