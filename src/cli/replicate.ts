import { databaseFile } from '../app.ts'
import { AppError } from '../errors.ts'
import type { Config } from '../platform/config/config.ts'
import { parseReplica, replicaRule } from '../platform/config/replica.ts'
import type { Replica } from '../platform/config/replica.ts'
import type { ShopCommand } from './command.ts'
import type { Answer } from './output.ts'
import { addCommand, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'replicate',
    "print Litestream's configuration, which copies each change of the shop to another machine",
    'replicate --to s3://bucket/shop > /etc/shopstead/litestream.yml'
  )
    .option('--to <address>', `${replicaRule} (default: SHOPSTEAD_REPLICA)`)
    .option('--check', 'print no configuration, and fail when another machine has continued the replica')
  runsOnFiles(command, print)
}

async function print({ config, options }: FileWork<{ to?: string; check?: boolean }>): Promise<Answer> {
  const replica = replicaOf(config, options.to, '--to')
  if (options.check) {
    const { requireNewestMachine } = await import('../operations/replica/other-machine.ts')
    await requireNewestMachine(config, replica)
    return {
      json: { mayReplicate: true },
      human: 'This machine may replicate: no other machine has continued the shop.'
    }
  }
  const { litestreamConfig } = await import('../operations/replica/litestream-config.ts')
  const configuration = litestreamConfig(databaseFile(config), replica)
  return { json: { configuration }, human: configuration.trimEnd() }
}

/**
 * The replica at an address, by default that of SHOPSTEAD_REPLICA.
 *
 * @throws AppError USAGE for an address that is not valid, and without one
 */
export function replicaOf({ replica }: Config, address: string | undefined, option: string): Replica {
  const chosen = address === undefined ? replica : parseReplica(address)
  if (chosen) return chosen
  const missing = address === undefined ? ' or SHOPSTEAD_REPLICA' : ''
  throw new AppError('USAGE', `${option}${missing} must be ${replicaRule}.`)
}

/** The replica that this machine follows. @throws AppError USAGE without SHOPSTEAD_REPLICA */
export function followedReplica({ replica }: Config): Replica {
  if (replica !== null) return replica
  throw new AppError('USAGE', `To follow another machine, set SHOPSTEAD_REPLICA to ${replicaRule}.`)
}
