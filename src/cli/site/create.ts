import { resolve } from 'node:path'
import { Option } from 'commander'
import { createSite, starters } from '../../operations/starters/create-site.ts'
import type { StarterName } from '../../operations/starters/create-site.ts'
import type { ShopCommand, CommonOptions } from '../run.ts'
import { printAnswer } from '../terminal/output.ts'
import { addCommand } from '../run.ts'

type CreateOptions = CommonOptions & { framework: StarterName }

/** Creates a site. It opens no shop and needs no network. */
export function define(program: ShopCommand): void {
  const about = 'create a website for a shop: products, cart, checkout, account and affiliate links'
  const framework = new Option('--framework <name>', 'plain: Node.js without a build step; next: Next.js')
    .choices(Object.keys(starters))
    .default('plain')
  const command = addCommand(program, 'create <dir>', about, 'create my-shop --framework next').addOption(framework)
  command.action(async (dir: string) => {
    const { framework: starter, json = false } = command.opts<CreateOptions>()
    const folder = resolve(dir)
    const files = createSite(folder, starter)
    const commands = [`cd ${quoted(dir)}`, 'npm install', 'npm run shop', 'npm run dev']
    const human = [
      `Created a website in ${folder} (${files.length} files).`,
      '',
      'Next, run its shop with demo products and test payments:',
      ...commands.slice(0, 3).map((line) => `  ${line}`),
      'and in a second terminal, in the same folder, the website:',
      `  ${commands[3]}`,
      'README.md explains the files and how to go live.'
    ]
    await printAnswer(command.terminal, { json: { folder, framework: starter, files, commands }, human }, json)
  })
}

/** A path as a shell reads it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
