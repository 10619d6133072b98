import { expect } from 'vitest'
import { write } from '../../../src/platform/db/database.ts'
import type { ShopContext } from '../../../src/shop/context.ts'
import { queueMail } from '../../../src/shop/mail/queue.ts'
import type { MailData, MailTemplate } from '../../../src/shop/mail/queue.ts'
import { mails } from '../../../src/shop/mail/schema.ts'
import { startMailer } from '../../../src/shop/mailer/mailer.ts'
import type { TestShop } from '../../support/shop-context.ts'

export const wait = { timeout: 20_000, interval: 10 }

export function queue<T extends MailTemplate>(
  shop: ShopContext,
  template: T,
  data: MailData[T],
  recipient = 'mira@shop.example'
): void {
  write(shop.db, (tx) => queueMail(tx, { template, recipient, data }, shop.clock.now()))
}

/** The state of every email, in the order of their queueing. */
export const mailStates = (shop: ShopContext) =>
  shop.db.orm.select({ state: mails.state, attempts: mails.attempts, lastError: mails.lastError }).from(mails).all()

/** Runs a mailer until no queued email is due. */
export async function sendAll(shop: TestShop): Promise<void> {
  const mailer = startMailer(shop)
  const due = () =>
    shop.db.orm
      .select()
      .from(mails)
      .all()
      .filter((mail) => mail.state === 'queued' && mail.nextAttemptAt <= shop.clock.now())
  await expect.poll(due, wait).toEqual([])
  await mailer.stop()
}
