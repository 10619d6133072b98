import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { backUp } from '../../../src/operations/backup/backups.ts'
import { readFailedJobs } from '../../../src/operations/failed-jobs.ts'
import { openDatabase, write } from '../../../src/platform/db/database.ts'
import { productImages } from '../../../src/shop/catalog/schema.ts'
import { emit } from '../../../src/shop/webhooks/emit.ts'
import { setSetting, switchModule, unsetSetting } from '../../../src/shop/settings/settings.ts'
import { presetEu } from '../../../src/shop/tax/rates.ts'
import { addEndpoint } from '../../../src/shop/webhooks/endpoints.ts'
import { draft, line, makeProduct, move, place } from '../../shop/orders/support.ts'
import { byCommand } from './break.ts'
import type { Break } from './break.ts'
import { lawSettings, listen } from './broken-shop.ts'
import type { BrokenShop } from './broken-shop.ts'

const dayMs = 24 * 60 * 60_000
const now = () => Date.now()

export const shopBreaks: Break[] = [
  {
    what: 'selling that is switched off',
    break: ({ shop }) => setSetting(shop.app.db, 'checkout.enabled', 'false', now()),
    check: 'selling',
    status: 'warning',
    message: /buyers cannot order/,
    advice: /settings set checkout\.enabled true/,
    repair: byCommand
  },
  {
    what: 'a module that is switched off',
    break: ({ shop }) => switchModule(shop.app.db, 'commerce', false, now()),
    check: 'modules',
    status: 'warning',
    message: /sells nothing/,
    advice: /modules enable commerce/,
    repair: byCommand
  },
  {
    what: 'law texts that are missing',
    break: ({ shop }) => lawSettings.forEach((name) => unsetSetting(shop.app.db, name)),
    check: 'law texts',
    status: 'warning',
    message: /no page for: terms, withdrawal, privacy, imprint\.$/,
    advice: /set storefront\.termsUrl and the settings beside it/,
    repair: ({ shop }) =>
      lawSettings.forEach((name) => setSetting(shop.app.db, name, `https://shop.example/${name}`, now()))
  },
  {
    what: 'a file of a sold product that is missing',
    break: ({ dataDir }) => rmSync(join(dataDir, 'downloads', 'guide.pdf')),
    check: 'downloads',
    status: 'failed',
    message: /^1 files .* missing: guide\.pdf\.$/,
    advice: /Copy them to .*downloads/,
    repair({ dataDir }, { message, advice }) {
      const [, folder = ''] = /Copy them to (\S+)/.exec(advice) ?? []
      const [, file = ''] = /missing: (\S+)\.$/.exec(message) ?? []
      expect(folder).toBe(join(dataDir, 'downloads'))
      writeFileSync(join(folder, file), 'a guide')
    }
  },
  {
    what: 'a folder of pictures that is gone',
    break: ({ dataDir }) => rmSync(join(dataDir, 'media'), { recursive: true }),
    check: 'pictures',
    status: 'warning',
    message: /1 of 1 pictures are missing/,
    advice: /offers images retry/,
    repair: byCommand
  },
  {
    what: 'pictures that a full disk left empty',
    break: ({ dataDir }) => {
      for (const name of readdirSync(join(dataDir, 'media'))) truncateSync(join(dataDir, 'media', name), 0)
    },
    check: 'pictures',
    status: 'warning',
    message: /1 of 1 pictures are missing/,
    advice: /offers images retry/,
    repair: byCommand
  },
  {
    what: 'pictures that could not be fetched',
    break: ({ shop }) =>
      void shop.app.db.orm.update(productImages).set({ mediaHash: null, problem: 'no answer' }).run(),
    check: 'pictures',
    status: 'warning',
    message: /1 pictures could not be fetched/,
    advice: /offers images retry/,
    repair: byCommand
  },
  {
    what: 'invoices without the seller',
    break: ({ shop }) => unsetSetting(shop.app.db, 'shop.legal'),
    check: 'invoices',
    status: 'warning',
    message: /shop\.legal\.street/,
    advice: /settings set shop\.legal\.street TEXT/,
    repair: byCommand
  },
  {
    what: 'short passwords',
    break: ({ shop }) => unsetSetting(shop.app.db, 'registration.passwordMinLength'),
    check: 'passwords',
    status: 'warning',
    message: /At least 8/,
    advice: /registration\.passwordMinLength 15/,
    repair: byCommand
  },
  {
    what: 'tax rates without the country of the shop',
    break({ shop }) {
      presetEu(shop.app.db, { ownRate: false }, 0)
      unsetSetting(shop.app.db, 'shop.country')
    },
    check: 'tax',
    status: 'warning',
    message: /country of the shop is not set/,
    advice: /settings set shop\.country XX/,
    repair: (world, found) => byCommand(world, { ...found, advice: found.advice.replace('XX', 'DE') })
  },
  {
    what: 'VAT ids that VIES does not confirm',
    break: ({ shop }) => setSetting(shop.app.db, 'tax.vies', 'off', now()),
    check: 'vat ids',
    status: 'warning',
    message: /VAT ids are not confirmed/,
    advice: /settings set tax\.vies on/,
    repair: byCommand
  },
  {
    what: 'sales abroad near the threshold of the EU',
    break({ shop: { app } }) {
      setSetting(app.db, 'shop.country', 'DE', now())
      presetEu(app.db, { ownRate: true }, now())
      const lines = [line(makeProduct(app.db), { unitPriceMinor: 1_071_000 })]
      const { id } = place(app.db, draft(lines, { billingAddress: { country: 'FR' } }), now())
      move(app.db, id, 'processing', {}, now())
    },
    check: 'sales abroad',
    status: 'warning',
    message: /€9,000\.00 this year .* near the threshold/,
    advice: /tax preset eu/,
    repair: byCommand
  },
  {
    what: 'a country without shipping',
    break: ({ shop }) => setSetting(shop.app.db, 'checkout.shipTo', 'DE,FR', now()),
    check: 'shipping',
    status: 'warning',
    message: /No shipping method for FR/,
    advice: /shipping set Abroad --countries FR/,
    repair: byCommand
  },
  {
    what: 'an order past its hold',
    break: ({ shop }) => void place(shop.app.db, draft([line(makeProduct(shop.app.db))]), now() - dayMs),
    check: 'stuck orders',
    status: 'warning',
    message: /still pending/,
    advice: /orders reconcile/,
    repair: byCommand
  },
  {
    what: 'deliveries of webhooks that failed',
    async break({ shop, onEnd }) {
      const url = await listen(onEnd, (_request, response) => response.end())
      const { db } = shop.app
      write(db, (tx) => {
        addEndpoint(tx, { url, types: ['account.verified'] }, now())
        emit(tx, 'account.verified', { userId: 1 }, now())
        tx.sqlite.exec(`UPDATE webhook_deliveries SET state = 'failed'`)
      })
    },
    check: 'undelivered events',
    status: 'warning',
    message: /1 failed permanently/,
    advice: /webhooks replay --failed/,
    repair: byCommand
  }
]

const secrets = new Map<BrokenShop, string>()

async function restart(world: BrokenShop): Promise<void> {
  await world.shop.stop()
  world.shop = await world.start()
}

export const folderBreaks: Break[] = [
  {
    what: 'another secret key',
    async break(world) {
      const visitor = world.shop.visitor()
      await visitor.register()
      await visitor.post('/auth/forgot-password', { email: 'ada@example.com' })
      const file = join(world.dataDir, 'secret.key')
      secrets.set(world, readFileSync(file, 'utf8'))
      writeFileSync(file, 'x'.repeat(43))
    },
    check: 'secret of the database',
    status: 'failed',
    message: /not the one that the shop had/,
    advice: /Copy secret\.key back to /,
    repair: (world) => writeFileSync(join(world.dataDir, 'secret.key'), secrets.get(world) ?? '')
  },
  {
    what: 'a job of the server that fails',
    async break(world) {
      await world.shop.visitor().register()
      world.shop.app.db.sqlite.exec(`
        UPDATE sessions SET ends_at = 1;
        CREATE TRIGGER stuck BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'stuck'); END`)
      await restart(world)
      await vi.waitFor(() => expect(readFailedJobs(world.dataDir)).toHaveProperty('housekeeping'), { timeout: 5_000 })
    },
    check: 'background work',
    status: 'warning',
    message: /^The job "housekeeping" had a problem at 20.*: .*stuck/,
    advice: /journalctl -u shopstead -n 50.*"systemctl restart shopstead"/,
    async repair(world) {
      world.shop.app.db.sqlite.exec('DROP TRIGGER stuck')
      await restart(world)
    }
  },
  {
    what: 'a schedule of backups that never comes',
    break: ({ shop }) =>
      void shop.app.db.sqlite.exec(`UPDATE settings SET value = '"0 0 30 2 *"' WHERE key = 'backup.schedule'`),
    check: 'backups',
    status: 'failed',
    message: /never comes/,
    advice: /settings set backup\.schedule '0 3 \* \* \*'/,
    repair: byCommand
  },
  {
    what: 'a newest backup that is damaged',
    break: (world) => truncateSync(newestBackup(world), 40_960),
    check: 'backups',
    status: 'failed',
    message: /is damaged/,
    advice: /"rm .*backup create"/,
    repair: byCommand
  },
  {
    what: 'backups that stopped',
    async break(world) {
      rmSync(join(world.dataDir, 'backups'), { recursive: true })
      await backUp({ ...world.shop.app, clock: { now: () => now() - 4 * dayMs } }, 'scheduled')
    },
    check: 'backups',
    status: 'warning',
    message: /newest verified backup was made at/,
    advice: /run "shopstead backup create"/,
    repair: byCommand
  },
  {
    what: 'a missing folder of backups',
    break: ({ dataDir }) => rmSync(join(dataDir, 'backups'), { recursive: true }),
    check: 'backups',
    status: 'failed',
    message: /no verified backup/,
    advice: /run "shopstead backup create"/,
    repair: byCommand
  },
  {
    what: 'a secret key that other users can read',
    break: ({ dataDir }) => chmodSync(join(dataDir, 'secret.key'), 0o644),
    check: 'file modes',
    status: 'warning',
    message: /Other users can read: secret\.key/,
    advice: /chmod -R go= /,
    repair: byCommand
  },
  {
    what: 'a database that its owner cannot write',
    break: ({ dataDir }) => chmodSync(join(dataDir, 'shopstead.db'), 0o400),
    check: 'file owners',
    status: 'failed',
    message: /cannot read and write: shopstead\.db/,
    advice: /chmod -R u\+rwX /,
    repair: byCommand
  }
]

/** The locked database is opened by another connection, as another process does. */
const holders = new Map<BrokenShop, ReturnType<typeof openDatabase>>()

export const databaseBreaks: Break[] = [
  {
    what: 'a database that another process has locked',
    break(world) {
      const holder = openDatabase(join(world.dataDir, 'shopstead.db'))
      holder.sqlite.exec('BEGIN IMMEDIATE')
      holders.set(world, holder)
    },
    check: 'writes',
    status: 'failed',
    message: /Another process has locked the database/,
    advice: /"fuser -v .*shopstead\.db" shows the process/,
    repair: (world) => void holders.get(world)?.sqlite.close()
  }
]

/** Only root can give files away. */
export const ownerBreaks: Break[] = [
  {
    what: 'a database of another user',
    break: ({ dataDir }) => chownSync(join(dataDir, 'shopstead.db'), 65_534, 65_534),
    check: 'file owners',
    status: 'failed',
    message: /these files do not: shopstead\.db/,
    advice: /chown -R 0:0 /,
    repair: byCommand
  }
]

function newestBackup({ dataDir }: BrokenShop): string {
  const folder = join(dataDir, 'backups')
  return join(
    folder,
    readdirSync(folder)
      .filter((name) => name.endsWith('.db'))
      .toSorted()
      .at(-1) ?? ''
  )
}
