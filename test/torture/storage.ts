import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from './part.ts'
import { ShopAtRisk } from './storage/shop-at-risk.ts'
import { Shoppers } from './storage/shoppers.ts'
import { breakDisk, holdLock, mountDisk } from './storage/faults.ts'

/** Less than SQLite's busy timeout of five seconds, which would block the whole process. */
const readWithinMs = 4_500
/** The shop must recover immediately; the margin is for a slow machine. */
const recoveredWithinMs = 15_000
const diskMb = 160
const faults = ['EROFS', 'EIO', 'ENOSPC'] as const

export const storage: Part = {
  name: 'storage',
  about: 'full, read-only, failing and locked storage, and a start with a corrupt database',
  async run(trial) {
    const folder = mkdtempSync(join(trial.packed.folder, 'storage-'))
    const disk = mountDisk(folder, diskMb)
    if (disk === undefined) trial.figure('full and read-only disks: skipped, mounting a disk is not permitted')
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const shop = await ShopAtRisk.create(trial, dataDir)
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
      await shoppers.verify()
      await shop.stop()
      if (disk !== undefined) await readOnlyStart(shop, disk)
      await corruptStart(shop, shoppers)
    } finally {
      await shop.close()
      disk?.unmount()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

type Disk = NonNullable<ReturnType<typeof mountDisk>>

/**
 * Runs purchases and reads before, during and after a fault. The server must not restart, reads must stay fast, and
 * purchases must succeed after the fault.
 */
async function duringFault(
  shop: ShopAtRisk,
  shoppers: Shoppers,
  what: string,
  causeFault: () => Promise<() => Promise<void> | void>
): Promise<void> {
  const { trial } = shop
  trial.count(what)
  shoppers.takeSlowestReadMs()
  shoppers.start()
  await sleep(300)
  const endFault = await causeFault()
  await endFault()
  const endedAt = performance.now()
  await shoppers.finish()
  const recoveredMs = performance.now() - endedAt
  if (!shop.isRunning) trial.violation(`${what}: the server has ended`)
  if (recoveredMs > recoveredWithinMs)
    trial.violation(`${what}: the pending purchases took ${Math.round(recoveredMs)} ms after its end`)
  const readMs = shoppers.takeSlowestReadMs()
  trial.figure(`${what}: slowest read ${Math.round(readMs)} ms, recovered ${Math.round(recoveredMs)} ms after its end`)
  if (readMs > readWithinMs) trial.violation(`${what}: a read took ${Math.round(readMs)} ms`)
}

async function expectHealth(shop: ShopAtRisk, during: string, name: string, expected: 'ok' | 'failed'): Promise<void> {
  const found = (await shop.health()).get(name)
  const isHealthy = found?.status !== 'failed'
  if (isHealthy !== (expected === 'ok'))
    shop.trial.violation(`${during}: shopstead health reports for "${name}": ${found?.status} ${found?.message}`)
}

async function lock(shop: ShopAtRisk, shoppers: Shoppers, seconds: number): Promise<void> {
  const what = `locked by another process for ${seconds} s`
  await duringFault(shop, shoppers, what, async () => {
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
  await duringFault(shop, shoppers, 'full disk', async () => {
    disk.fill()
    await sleep(1_000)
    // Writes may still succeed in the checkpointed part of the log, so the check of the disk must fail.
    await expectHealth(shop, 'full disk', 'disk', 'failed')
    return () => disk.free()
  })
  await expectHealth(shop, 'after a full disk', 'disk', 'ok')
  await expectHealth(shop, 'after a full disk', 'writes', 'ok')
}

/** Only the server's own writes fail, so `shopstead health`, which is another process, cannot detect it. */
async function brokenDisk(shop: ShopAtRisk, shoppers: Shoppers, fault: 'EROFS' | 'EIO' | 'ENOSPC'): Promise<void> {
  const calls = fault === 'EIO' ? ['fdatasync', 'fsync'] : ['pwrite64', 'ftruncate']
  const broken = calls.map((call) => `${call}:error=${fault}`)
  let isBroken = true
  await duringFault(shop, shoppers, `${calls[0]} fails with ${fault}`, async () => {
    const breaking = await breakDisk(shop.pid, shop.file, broken)
    isBroken = breaking !== undefined
    await sleep(isBroken ? 1_500 : 0)
    return () => breaking?.repair()
  })
  if (!isBroken) shop.trial.figure(`${fault}: skipped, strace is missing or not allowed to trace`)
}

/** The buyer has paid but the shop cannot write it. The response must not ask for another attempt, which would pay twice. */
async function lockedAfterCharge(shop: ShopAtRisk, shoppers: Shoppers): Promise<void> {
  const { trial, gateway } = shop
  trial.count('locked between charge and order')
  gateway.sandbox.addFault({ target: 'payment_intents.confirm', fault: 'slow', delayMs: 1_500 })
  const held = untilFaultUsed(gateway).then(() => holdLock(shop.file))
  await shoppers.buyDuring(async ({ status, text }) => {
    if (status !== 504) trial.violation(`charged, but not written: returned ${status}: ${text}`)
    await (await held).release()
  })
}

/** Resolves when the gateway has received the delayed request. */
async function untilFaultUsed({ sandbox }: ShopAtRisk['gateway']): Promise<void> {
  while (sandbox.listFaults().length > 0) await sleep(20)
}

async function readOnlyStart(shop: ShopAtRisk, disk: Disk): Promise<void> {
  shop.trial.count('starts on a read-only disk')
  if (!disk.remount('ro'))
    return shop.trial.violation('the disk could not be remounted read-only: a file is open for writing')
  await expectRefusal(shop, 'a read-only disk', /is not writable/, 1)
  await expectHealth(shop, 'a read-only disk', 'data folder', 'failed')
  disk.remount('rw')
  await shop.start()
  await expectHealth(shop, 'after a read-only disk', 'writes', 'ok')
  await shop.stop()
}

/** Verifies the message and the exit code of a start with a corrupt or missing database. */
async function corruptStart(shop: ShopAtRisk, shoppers: Shoppers): Promise<void> {
  const { trial, file } = shop
  const { exitCode, stdout } = await shop.run('backup', 'create', '--json')
  if (exitCode !== 0) return trial.violation(`a backup ended with ${exitCode}: ${stdout}`)
  const backup = join(trial.packed.folder, 'storage-backup.db')
  copyFileSync((JSON.parse(stdout) as { file: string }).file, backup)
  const validBytes = readFileSync(file)
  const half = Math.floor(validBytes.length / 2 / 4096) * 4096
  const corruptions: [what: string, corrupt: () => void, pattern: RegExp, exit: number][] = [
    ['garbage', () => writeFileSync(file, trial.random.bytes(100_000)), /not a database.*backup restore/s, 69],
    ['cut in half', () => truncateSync(file, half), /malformed.*backup restore/s, 69],
    ['cut inside its first page', () => truncateSync(file, 1_000), /(malformed|not a database).*backup restore/s, 69],
    ['empty', () => truncateSync(file, 0), /\d+ migrations are pending.*shopstead migrate/s, 1],
    ['missing', () => rmSync(file), /database .* does not exist, or is empty.*There was a shop/s, 1]
  ]
  for (const [what, corrupt, pattern, exit] of corruptions) {
    trial.count('starts with a corrupt database')
    corrupt()
    await expectRefusal(shop, `a database that is ${what}`, pattern, exit)
    if (what !== 'missing' && what !== 'empty')
      await expectHealth(shop, `a database that is ${what}`, 'database', 'failed')
    restoreBytes(file, validBytes)
  }
  await corruptLog(shop, shoppers, validBytes)
  await restoredStart(shop, shoppers, backup)
  rmSync(backup)
}

function restoreBytes(file: string, validBytes: Buffer): void {
  for (const extra of ['-wal', '-shm']) rmSync(`${file}${extra}`, { force: true })
  writeFileSync(file, validBytes, { mode: 0o600 })
}

async function expectRefusal(shop: ShopAtRisk, what: string, pattern: RegExp, exit: number): Promise<void> {
  const ran = await shop.startExpectingFailure()
  if (ran === null) return shop.trial.violation(`${what}: the server started`)
  const { exitCode, stdout, stderr } = ran
  if (exitCode !== exit || !pattern.test(stdout) || /\bat .*\.js:\d+/.test(stdout + stderr))
    shop.trial.violation(`${what}: the start ended with ${exitCode} and printed ${stdout}${stderr}`)
}

/** A corrupt log beside a valid database must be ignored: everything that was acknowledged is still there. */
async function corruptLog(shop: ShopAtRisk, shoppers: Shoppers, validBytes: Buffer): Promise<void> {
  for (const extra of shop.trial.isFull ? ['-wal', '-shm'] : ['-wal']) {
    shop.trial.count('starts with a corrupt log')
    writeFileSync(`${shop.file}${extra}`, shop.trial.random.bytes(50_000), { mode: 0o600 })
    await shop.start()
    await shoppers.verify()
    await expectHealth(shop, `a corrupt ${extra}`, 'database', 'ok')
    await shop.stop()
    restoreBytes(shop.file, validBytes)
  }
}

/** Follows the advice of the refusals, `backup restore`, and verifies that everything is there afterwards. */
async function restoredStart(shop: ShopAtRisk, shoppers: Shoppers, backup: string): Promise<void> {
  writeFileSync(shop.file, shop.trial.random.bytes(100_000))
  const { exitCode, stderr } = await shop.run('backup', 'restore', backup, '--yes')
  if (exitCode !== 0) return shop.trial.violation(`backup restore ended with ${exitCode}: ${stderr}`)
  await shop.start()
  await shoppers.verify()
  await duringFault(shop, shoppers, 'after a restore', () => Promise.resolve(() => undefined))
  await shoppers.verify()
  await shop.stop()
}
