import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasLitestream } from '../../support/litestream.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { replicatedShop, replicaRow, run } from './replica-support.ts'

describe.skipIf(!hasLitestream)('the replica of another shop', () => {
  it('is kept from a new shop, and from an empty folder', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { replication, rename } = await replicatedShop(replica)
    await replication.copy(() => rename('sold'))
    const env = { SHOPSTEAD_REPLICA: replica }
    const empty = join(temporaryFolder(), 'data')
    expect((await run(empty, ['replicate', '--check'], env)).stdout).toContain('does not exist, or is empty')
    const begun = await run(empty, ['init'], env)
    expect({ code: begun.code, text: begun.stdout }).toEqual({ code: 1, text: expect.stringContaining('has a shop') })

    expect((await run(empty, ['init'])).code).toBe(0)
    const refused = await run(empty, ['replicate', '--check'], env)
    expect({ code: refused.code, text: refused.stdout }).toEqual({
      code: 1,
      text: expect.stringContaining('belongs to the shop')
    })
    expect(await replicaRow(empty, env)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('belongs to the shop')
    })
    const restored = await run(empty, ['restore', '--from-replica', '--new-secret', '--yes'], env)
    expect({ code: restored.code, text: restored.stdout }).toEqual({
      code: 1,
      text: expect.stringContaining('belongs to the shop')
    })
  })

  it('is its own after a restore, and health says when Litestream does not run', async () => {
    const replica = join(temporaryFolder(), 'replica')
    const { dataDir, replication, rename } = await replicatedShop(replica)
    const env = { SHOPSTEAD_REPLICA: replica }
    await replication.copy(() => rename('sold'))
    expect(await replicaRow(dataDir, env)).toMatchObject({ status: 'ok' })
    await replication.end('SIGTERM')
    expect(await replicaRow(dataDir, env)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Litestream does not run')
    })
    const other = join(temporaryFolder(), 'data')
    expect((await run(other, ['restore', '--from-replica', '--new-secret'], env)).code).toBe(0)
    expect((await run(other, ['replicate', '--check'], env)).json).toEqual({ mayReplicate: true })
  })
})
