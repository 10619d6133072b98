import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mailStates, queue, sendAll, wait } from '../../../shop/mailer/support.ts'
import { mailFiles } from '../../../support/mail-files.ts'
import { startMailbox } from '../../../support/mailbox.ts'
import { makeUser } from '../../../support/people.ts'
import { openTestShop } from '../../../support/shop-context.ts'
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
      shop.clock.advance(2 * 60_000)
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
    expect(mailbox.received.length - messageCount).toBeLessThanOrEqual(6)
  })
})
