import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mailStates, queue, sendAll, wait } from '../../../shop/mailer/support.ts'
import { exitOf, spawnShopstead } from '../../../support/command-process.ts'
import { startDifficultMailServer } from '../../../support/difficult-mail-server.ts'
import type { Treatment } from '../../../support/difficult-mail-server.ts'
import { mailFiles } from '../../../support/mail-files.ts'
import { startMailbox } from '../../../support/mailbox.ts'
import { makeUser } from '../../../support/people.ts'
import { openTestShop } from '../../../support/shop-context.ts'
import { mails } from '../../../../src/shop/mail/schema.ts'
import type { TestShop } from '../../../support/shop-context.ts'

describe('a mailer process that is killed repeatedly', () => {
  const messageCount = 40
  const recipients = Array.from({ length: messageCount }, (_, index) => `p${index}@shop.example`).toSorted()

  /** Kills six processes, each after about five more emails, then lets one finish. */
  async function sendUnderKills(shop: TestShop, smtpUrl: string, arrived: () => number): Promise<number> {
    const user = await makeUser(shop, { passwordHash: 'none' })
    for (const recipient of recipients) queue(shop, 'password_changed', { userId: user.id }, recipient)
    for (let kills = 1; kills <= 6; kills += 1) {
      const script = join(import.meta.dirname, 'mailer-process.ts')
      const child = spawn(process.execPath, [script, shop.dataDir, String(shop.clock.now()), smtpUrl])
      await expect.poll(() => child.exitCode !== null || arrived() >= kills * 5, wait).toBe(true)
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      // Longer than the wait after any attempt that a kill interrupted.
      shop.clock.advance(24 * 60 * 60_000)
    }
    const underKills = arrived()
    await sendAll(shop)
    expect(new Set(mailStates(shop).map(({ state }) => state))).toEqual(new Set(['sent']))
    return underKills
  }

  it('sends each email once, as one complete file', async () => {
    using shop = openTestShop()
    const underKills = await sendUnderKills(shop, '', () => mailFiles(shop.dataDir).length)
    expect(underKills).toBeGreaterThanOrEqual(30)
    expect(
      mailFiles(shop.dataDir)
        .map(({ to }) => to)
        .toSorted()
    ).toEqual(recipients)
  })

  it('sends each email by SMTP, and repeats only those interrupted by a kill, under the same Message-ID', async () => {
    await using mailbox = await startMailbox()
    using shop = openTestShop({ SHOPSTEAD_SMTP_URL: mailbox.url })
    await sendUnderKills(shop, mailbox.url, () => mailbox.received.length)
    const byId = new Map(mailbox.received.map((mail) => [mail.header('message-id'), mail.to[0]]))
    expect(byId.size).toBe(messageCount)
    expect(new Set(byId.values())).toEqual(new Set(recipients))
    // A kill interrupts at most the five emails that are sent at once.
    expect(mailbox.received.length - messageCount).toBeLessThanOrEqual(6 * 5)
  })
})

describe('a mail server that lets one message wait', () => {
  it('delays no other email, and is cut off when the shop stops; the next start sends the message once', async () => {
    let isSlow = true
    const server = await startDifficultMailServer((to) => (isSlow && to === 'slow@shop.example' ? 'stalls' : 'takes'))
    const taken = () => server.taken.map(({ to }) => to)
    const { dataDir } = await makeShopWithMails(['slow@shop.example', 'lena@shop.example', 'mira@shop.example'])
    const env = { SHOPSTEAD_ENV: 'development', SHOPSTEAD_SMTP_URL: server.url }
    const first = spawnShopstead(dataDir, ['serve', '--port', '0', '--json'], { env })
    onTestFinished(() => void first.kill('SIGKILL'))
    await expect.poll(() => taken().toSorted(), wait).toEqual(['lena@shop.example', 'mira@shop.example'])
    expect([...server.waiting]).toEqual(['slow@shop.example'])
    const since = performance.now()
    first.kill('SIGTERM')
    expect(await exitOf(first)).toBe(0)
    // The unit of systemd kills after 30 s. This is a promise of the product, so its limit is asserted.
    expect(performance.now() - since).toBeLessThan(10_000)
    isSlow = false
    const second = spawnShopstead(dataDir, ['serve', '--port', '0', '--json'], { env })
    onTestFinished(() => void second.kill('SIGKILL'))
    await expect.poll(() => taken().filter((to) => to === 'slow@shop.example'), wait).toHaveLength(1)
    second.kill('SIGTERM')
    expect(await exitOf(second)).toBe(0)
    expect(server.taken).toHaveLength(3)
  })
})

describe('a year of mail', () => {
  const hourMs = 3_600_000
  const dayMs = 24 * hourMs
  const script = join(import.meta.dirname, 'mailer-process.ts')

  /** How the server treats a message: mostly as it should, and each other way every few messages. */
  const troubles: readonly (readonly Treatment[])[] = [
    ['greylists'],
    ['drops'],
    ['drops after taking'],
    ['refuses late', 'greylists', 'drops'],
    ['drops', 'drops', 'greylists', 'refuses late']
  ]

  /** The mailer's process with a time that the test moves on. */
  function startMailerProcess(shop: TestShop, url: string) {
    const child = fork(script, [shop.dataDir, String(shop.clock.now()), url])
    onTestFinished(() => void child.kill('SIGKILL'))
    return {
      /** Sets its time and makes it look for emails. */
      async moveTo(now: number): Promise<void> {
        child.send(now)
        await once(child, 'message')
      },
      /** Ends it as systemd does; returns how long that took. */
      async stop(): Promise<number> {
        const since = performance.now()
        child.kill('SIGTERM')
        expect(await exitOf(child)).toBe(0)
        return performance.now() - since
      }
    }
  }

  it('reaches a server that greylists, drops, stalls and lies: each email once, and each stop within 10 s', async () => {
    let stalled: string | undefined
    let attempts = 0
    const server = await startDifficultMailServer((to, tries) => {
      if (to === stalled) return 'stalls'
      attempts += 1
      const number = Number(/\d+/.exec(to)?.[0])
      return (number % 3 === 0 ? troubles[(number / 3) % troubles.length] : [])?.[tries - 1] ?? 'takes'
    })
    using shop = openTestShop()
    const user = await makeUser(shop, { passwordHash: 'none' })
    const recipients: string[] = []
    const queueNext = (): string => {
      const recipient = `p${recipients.length}@shop.example`
      recipients.push(recipient)
      queue(shop, 'password_changed', { userId: user.id }, recipient)
      return recipient
    }
    /** What is left to do at this time. */
    const left = () => {
      const rows = mailRows(shop)
      return {
        due: rows.filter((mail) => mail.state === 'queued' && mail.nextAttemptAt <= shop.clock.now()).length,
        running: server.connections + rows.reduce((total, mail) => total + mail.attempts, -attempts),
        unrecorded: server.taken.length - rows.filter(({ state }) => state === 'sent').length
      }
    }
    type MailerProcess = ReturnType<typeof startMailerProcess>
    const finish = async ({ moveTo }: MailerProcess): Promise<void> => {
      const after = async () => {
        await moveTo(shop.clock.now())
        return left()
      }
      await expect.poll(after, wait).toEqual({ due: 0, running: 0, unrecorded: 0 })
    }
    /** An attempt that is running when the time moves on would be repeated. */
    const finishAndMoveOn = async (mailer: MailerProcess, ms: number): Promise<void> => {
      await finish(mailer)
      shop.clock.advance(ms)
      await mailer.moveTo(shop.clock.now())
    }
    for (let quarter = 0; quarter < 4; quarter += 1) {
      stalled = undefined
      const mailer = startMailerProcess(shop, server.url)
      for (let week = 0; week < 13; week += 1) {
        for (let day = 0; day < 7; day += 1) queueNext()
        await finishAndMoveOn(mailer, 7 * dayMs)
      }
      await finish(mailer)
      stalled = queueNext()
      await expect.poll(() => [...server.waiting], wait).toEqual([stalled])
      // A promise of the product, so its limit is asserted.
      expect(await mailer.stop()).toBeLessThan(10_000)
    }
    stalled = undefined
    const last = startMailerProcess(shop, server.url)
    for (let step = 0; step < 8; step += 1) await finishAndMoveOn(last, 30 * hourMs)
    await last.stop()
    expect(server.taken.map(({ to }) => to).toSorted()).toEqual(recipients.toSorted())
    expect(new Set(server.taken.map(({ id }) => id)).size).toBe(recipients.length)
    expect(new Set(mailRows(shop).map(({ state }) => state))).toEqual(new Set(['sent']))
  })
})

const mailRows = (shop: TestShop) => shop.db.orm.select().from(mails).all()

async function makeShopWithMails(recipients: readonly string[]): Promise<{ dataDir: string }> {
  const shop = openTestShop()
  const user = await makeUser(shop, { passwordHash: 'none' })
  for (const recipient of recipients) queue(shop, 'password_changed', { userId: user.id }, recipient)
  shop.db.sqlite.close()
  onTestFinished(() => shop[Symbol.dispose]())
  return shop
}
