import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backUp } from '../../../src/operations/backup/backups.ts'
import { quietShop } from '../health-support.ts'
import { follow, openSoundShop, problemsOf } from './broken-shop.ts'
import type { BrokenShop } from './broken-shop.ts'
import type { Break } from './break.ts'
import { networkBreaks } from './network-breaks.ts'
import { paymentBreaks } from './payment-breaks.ts'
import { databaseBreaks, folderBreaks, ownerBreaks, shopBreaks } from './shop-breaks.ts'

let world: BrokenShop
const ends: (() => Promise<void> | void)[] = []
beforeAll(async () => {
  world = await openSoundShop((end) => void ends.push(end))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const owned = process.getuid?.() === 0 ? ownerBreaks : []
const breaks: Break[] = [
  ...networkBreaks,
  ...paymentBreaks,
  ...shopBreaks,
  ...folderBreaks,
  ...databaseBreaks,
  ...owned
]

describe('health', () => {
  it('finds nothing in a sound shop', async () => {
    expect(await problemsOf(world)).toEqual([])
  })

  it.each(breaks)('names $what, and is ok after its advice is followed', async (row) => {
    await row.break(world)
    const found = (await problemsOf(world)).find(({ name }) => name === row.check)
    expect(found).toMatchObject({
      status: row.status,
      message: expect.stringMatching(row.message),
      advice: expect.stringMatching(row.advice)
    })
    if (found !== undefined) await row.repair(world, found)
    await expect.poll(() => problemsOf(world)).toEqual([])
  })
})

describe('health of a shop whose server is down', () => {
  const damages: { what: string; harm: (dataDir: string) => void; message: RegExp; command: string }[] = [
    {
      what: 'a missing data folder',
      harm: (dataDir) => rmSync(dataDir, { recursive: true }),
      message: /does not exist/,
      command: 'shopstead init'
    },
    {
      what: 'a missing database',
      harm: (dataDir) => rmSync(join(dataDir, 'shopstead.db')),
      message: /does not exist/,
      command: 'shopstead init'
    },
    {
      what: 'an empty database',
      harm: (dataDir) => writeFileSync(join(dataDir, 'shopstead.db'), ''),
      message: /has no shop/,
      command: 'shopstead init'
    },
    {
      what: 'a damaged database',
      harm: (dataDir) => truncateSync(join(dataDir, 'shopstead.db'), 20_000),
      message: /malformed|damaged|disk image/,
      command: 'shopstead backup restore FILE'
    },
    {
      what: 'a missing secret key',
      harm: (dataDir) => rmSync(join(dataDir, 'secret.key')),
      message: /secret\.key is missing/,
      command: 'shopstead backup restore FILE'
    }
  ]

  it.each(damages)(
    'names $what, and does not fail after its advice is followed',
    async ({ harm, message, command }) => {
      let backup = ''
      const dataDir = await quietShop(async (app) => {
        const { file } = await backUp(app, 'manual')
        backup = join(app.config.dataDir, '..', 'kept.db')
        renameSync(file, backup)
      })
      harm(dataDir)
      const failed = async () => (await problemsOf({ dataDir, env: {} })).filter(({ status }) => status === 'failed')
      const [found] = await failed()
      expect(`${found?.message} ${found?.advice}`).toMatch(message)
      expect(`${found?.message} ${found?.advice}`).toContain(`"${command}"`)
      await follow({ dataDir, env: {} }, `"${command.replace('FILE', `${backup} --yes`)}"`)
      expect(await failed()).toEqual([])
    }
  )
})
