import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from './part.ts'
import { ShopAtRisk } from './storage/shop-at-risk.ts'
import { Shoppers } from './storage/shoppers.ts'
import { breakDisk, holdLock, mountDisk } from './storage/trouble.ts'

/** Less than the five seconds for which SQLite itself would keep the whole process waiting. */
const readWithinMs = 4_500
/** What is over is over at once; the margin is for a busy machine. */
const recoveredWithinMs = 15_000
const diskMb = 160
const faults = ['EROFS', 'EIO', 'ENOSPC'] as const

export const storage: Part = {
  name: 'storage',
  about: 'full, read-only, dying and locked storage, and what lies in it at the start that is no database',
  async run(trial) {
    const folder = mkdtempSync(join(trial.packed.folder, 'storage-'))
    const disk = mountDisk(folder, diskMb)
    if (disk === undefined) trial.figure('full and read-only disks: not run here, nobody may mount one')
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const shop = await ShopAtRisk.found(trial, dataDir)
    try {
      await shop.start()
      const shoppers = await Shoppers.enter(shop, trial.isFull ? 8 : 4)
      const rounds = trial.isFull ? 5 : 1
      for (let round = 1; round <= rounds; round += 1) {
        for (const seconds of [0.1, 1, 10]) await lock(shop, shoppers, seconds)
        if (disk !== undefined) await fullDisk(shop, shoppers, disk)
        for (const fault of trial.isFull ? faults : faults.slice(0, 2)) await brokenDisk(shop, shoppers, fault)
        await lockedAfterCharge(shop, shoppers)
        trial.progress(`${round} of ${rounds} rounds`)
      }
      await shoppers.judge()
      await shop.stop()
      if (disk !== undefined) await readOnlyStart(shop, disk)
      await spoiltStart(shop, shoppers)
    } finally {
      await shop.close()
      disk?.unmount()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

type Disk = NonNullable<ReturnType<typeof mountDisk>>

/**
 * People buy before, during and after; reads go on all the while, nothing is restarted, and when it is over the next
 * purchase succeeds.
 */
async function through(
  shop: ShopAtRisk,
  shoppers: Shoppers,
  what: string,
  trouble: () => Promise<() => Promise<void> | void>
): Promise<void> {
  const { trial } = shop
  trial.count(what)
  shoppers.takeSlowestReadMs()
  shoppers.start()
  await sleep(300)
  const lift = await trouble()
  await lift()
  const over = performance.now()
  await shoppers.settle()
  const settledMs = performance.now() - over
  if (!shop.stands) trial.violation(`${what}: the server has ended`)
  if (settledMs > recoveredWithinMs)
    trial.violation(`${what}: when it was over, nothing was sold for ${Math.round(settledMs)} ms`)
  const readMs = shoppers.takeSlowestReadMs()
  trial.figure(`${what}: slowest read ${Math.round(readMs)} ms, settled ${Math.round(settledMs)} ms after its end`)
  if (readMs > readWithinMs) trial.violation(`${what}: a read took ${Math.round(readMs)} ms`)
}

async function expectHealth(shop: ShopAtRisk, during: string, name: string, wanted: 'ok' | 'failed'): Promise<void> {
  const found = (await shop.health()).get(name)
  const isWell = found?.status !== 'failed'
  if (isWell !== (wanted === 'ok'))
    shop.trial.violation(`${during}: shopstead health says of "${name}": ${found?.status} ${found?.message}`)
}

async function lock(shop: ShopAtRisk, shoppers: Shoppers, seconds: number): Promise<void> {
  const what = `locked by another process for ${seconds} s`
  await through(shop, shoppers, what, async () => {
    const held = await holdLock(shop.file)
    const until = performance.now() + seconds * 1_000
    if (seconds > 8) await expectHealth(shop, what, 'writes', 'failed')
    return async () => {
      await sleep(Math.max(0, until - performance.now()))
      await held.release()
    }
  })
  if (seconds > 8) await expectHealth(shop, 'after a lock', 'writes', 'ok')
}

async function fullDisk(shop: ShopAtRisk, shoppers: Shoppers, disk: Disk): Promise<void> {
  await through(shop, shoppers, 'full disk', async () => {
    disk.fill()
    await sleep(1_000)
    // What a checkpoint has freed inside the log can still be written over, so it is the disk that is told of.
    await expectHealth(shop, 'full disk', 'disk', 'failed')
    return () => disk.free()
  })
  await expectHealth(shop, 'after a full disk', 'disk', 'ok')
  await expectHealth(shop, 'after a full disk', 'writes', 'ok')
}

/** The server's own writes fail; other processes' do not, so `shopstead health` has nothing to tell of it. */
async function brokenDisk(shop: ShopAtRisk, shoppers: Shoppers, fault: 'EROFS' | 'EIO' | 'ENOSPC'): Promise<void> {
  const calls = fault === 'EIO' ? ['fdatasync', 'fsync'] : ['pwrite64', 'ftruncate']
  const broken = calls.map((call) => `${call}:error=${fault}`)
  let isBroken = true
  await through(shop, shoppers, `${calls[0]} fails with ${fault}`, async () => {
    const breaking = await breakDisk(shop.pid, shop.file, broken)
    isBroken = breaking !== undefined
    await sleep(isBroken ? 1_500 : 0)
    return () => breaking?.mend()
  })
  if (!isBroken) shop.trial.figure(`${fault}: not run here, strace is missing or may not trace`)
}

/** The buyer has paid and the shop cannot write that down: he must not be told to try again, or he would pay twice. */
async function lockedAfterCharge(shop: ShopAtRisk, shoppers: Shoppers): Promise<void> {
  const { trial, gateway } = shop
  trial.count('locked between charge and order')
  gateway.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'slow', delayMs: 1_500 })
  const held = untilTaken(gateway).then(() => holdLock(shop.file))
  await shoppers.askOnce(async ({ status, text }) => {
    if (status !== 504) trial.violation(`charged, but not written down: answered ${status}: ${text}`)
    await (await held).release()
  })
}

/** The gateway has been asked for what its fault delays. */
async function untilTaken({ sandbox }: ShopAtRisk['gateway']): Promise<void> {
  while (sandbox.listFaults().length > 0) await sleep(20)
}

async function readOnlyStart(shop: ShopAtRisk, disk: Disk): Promise<void> {
  shop.trial.count('starts on a read-only disk')
  if (!disk.remount('ro')) return shop.trial.violation('the disk could not be made read-only: somebody still writes')
  await expectRefusal(shop, 'a read-only disk', /is not writable/, 1)
  await expectHealth(shop, 'a read-only disk', 'data folder', 'failed')
  disk.remount('rw')
  await shop.start()
  await expectHealth(shop, 'after a read-only disk', 'writes', 'ok')
  await shop.stop()
}

/** What a start may find in the place of its database, and what it has to say to that. */
async function spoiltStart(shop: ShopAtRisk, shoppers: Shoppers): Promise<void> {
  const { trial, file } = shop
  const { exitCode, stdout } = await shop.run('backup', 'create', '--json')
  if (exitCode !== 0) return trial.violation(`a backup ended with ${exitCode}: ${stdout}`)
  const backup = join(trial.packed.folder, 'storage-backup.db')
  copyFileSync((JSON.parse(stdout) as { file: string }).file, backup)
  const sound = readFileSync(file)
  const half = Math.floor(sound.length / 2 / 4096) * 4096
  const spoilt: [what: string, spoil: () => void, says: RegExp, exit: number][] = [
    ['garbage', () => writeFileSync(file, trial.random.bytes(100_000)), /not a database.*backup restore/s, 69],
    ['cut in half', () => truncateSync(file, half), /malformed.*backup restore/s, 69],
    ['cut inside its first page', () => truncateSync(file, 1_000), /(malformed|not a database).*backup restore/s, 69],
    ['empty', () => truncateSync(file, 0), /\d+ migrations are pending.*shopstead migrate/s, 1],
    ['gone', () => rmSync(file), /database .* does not exist.*shopstead migrate/s, 1]
  ]
  for (const [what, spoil, says, exit] of spoilt) {
    trial.count('spoilt databases at the start')
    spoil()
    await expectRefusal(shop, `a database that is ${what}`, says, exit)
    if (what !== 'gone' && what !== 'empty')
      await expectHealth(shop, `a database that is ${what}`, 'database', 'failed')
    restoreBytes(file, sound)
  }
  await spoiltLog(shop, shoppers, sound)
  await restoredStart(shop, shoppers, backup)
  rmSync(backup)
}

function restoreBytes(file: string, sound: Buffer): void {
  for (const extra of ['-wal', '-shm']) rmSync(`${file}${extra}`, { force: true })
  writeFileSync(file, sound, { mode: 0o600 })
}

async function expectRefusal(shop: ShopAtRisk, what: string, says: RegExp, exit: number): Promise<void> {
  const ran = await shop.startInVain()
  if (ran === null) return shop.trial.violation(`${what}: the server started`)
  const { exitCode, stdout, stderr } = ran
  if (exitCode !== exit || !says.test(stdout) || /\bat .*\.js:\d+/.test(stdout + stderr))
    shop.trial.violation(`${what}: the start ended with ${exitCode} and said ${stdout}${stderr}`)
}

/** Garbage that lies beside a whole database is no part of it: everything that was acknowledged is still there. */
async function spoiltLog(shop: ShopAtRisk, shoppers: Shoppers, sound: Buffer): Promise<void> {
  for (const extra of shop.trial.isFull ? ['-wal', '-shm'] : ['-wal']) {
    shop.trial.count('garbage logs at the start')
    writeFileSync(`${shop.file}${extra}`, shop.trial.random.bytes(50_000), { mode: 0o600 })
    await shop.start()
    await shoppers.judge()
    await expectHealth(shop, `garbage ${extra}`, 'database', 'ok')
    await shop.stop()
    restoreBytes(shop.file, sound)
  }
}

/** The advice that each refusal gives is good: after it everything is there. */
async function restoredStart(shop: ShopAtRisk, shoppers: Shoppers, backup: string): Promise<void> {
  writeFileSync(shop.file, shop.trial.random.bytes(100_000))
  const { exitCode, stderr } = await shop.run('backup', 'restore', backup, '--yes')
  if (exitCode !== 0) return shop.trial.violation(`backup restore ended with ${exitCode}: ${stderr}`)
  await shop.start()
  await shoppers.judge()
  await through(shop, shoppers, 'after a restore', () => Promise.resolve(() => undefined))
  await shoppers.judge()
  await shop.stop()
}
