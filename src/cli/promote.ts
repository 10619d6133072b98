import { toIso } from '../platform/iso-time.ts'
import type { ShopCommand } from './command.ts'
import type { Answer } from './output.ts'
import { showProgress } from './progress.ts'
import { followedReplica } from './replicate.ts'
import { addRestoreOptions, humanLines, requestOf } from './restore.ts'
import { addCommand, confirmOrRefuse, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

type Options = { secretKey?: string; newSecret?: boolean; generation?: string; yes?: boolean }

export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'promote',
    'make the machine that follows the replica the shop, when the first one is lost',
    'promote --secret-key secret.key'
  )
  addRestoreOptions(command, "a copy of the first machine's secret.key")
  command.option('--yes', 'do not ask for confirmation')
  runsOnFiles(command, makeShop)
}

async function makeShop(work: FileWork<Options>): Promise<Answer> {
  const { config, options, now, terminal } = work
  const { promote, recentChange } = await import('../operations/replica/promote.ts')
  const replica = followedReplica(config)
  const agoMs = await recentChange(config, replica, now)
  const aliveSeconds = agoMs === undefined ? null : Math.round(agoMs / 1000)
  if (aliveSeconds !== null)
    terminal.messages.warn(
      `The replica received a change ${aliveSeconds} seconds ago: the first machine seems to be alive. ` +
        'Switch it off first. What it sells from now on is lost here.'
    )
  await confirmOrRefuse(terminal, `Make this machine the shop, with the data of ${replica.address}?`, options)
  const progress = showProgress(work)
  const done = await promote({ ...requestOf(work, replica), onStep: progress.step }).finally(progress.done)
  const human = humanLines(done, sellsNow)
  return { json: { ...done, promoted: true, aliveSeconds, createdAt: toIso(done.createdAt) }, human }
}

const sellsNow =
  'The server that follows sells in a moment ("shopstead health"). If none runs, start it. Start the replication from this machine.'
