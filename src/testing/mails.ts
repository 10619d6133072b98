import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listFolder } from '../platform/files.ts'
import { mailFolder } from '../platform/mail/file-transport.ts'
import { createMailTransport } from '../platform/mail/transport.ts'
import type { ShopContext } from '../shop/context.ts'
import { isMailUnderWay } from '../shop/mail/queue.ts'
import { deliverDueMail } from '../shop/mailer/mailer.ts'
import type { TestMail } from './types.ts'

/** The last email that a shop without a mail server has sent, after it has sent what is due. */
export async function lastMail(shop: ShopContext, to: string | undefined): Promise<TestMail | undefined> {
  const { config, log, db, clock } = shop
  const folder = mailFolder(config.dataDir)
  const transport = createMailTransport({ smtpUrl: null, from: config.mailFrom, folder, log })
  await deliverDueMail(shop, transport)
  // The server's own mailer may be sending one.
  for (let tries = 0; tries < 200 && isMailUnderWay(db, clock.now()); tries += 1) await sleep(10)
  return namesIn(folder)
    .toReversed()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as TestMail)
    .find((mail) => to === undefined || mail.to === to)
}

/** The files of emails, oldest first: `<time>-<id>.json`. */
function namesIn(folder: string): string[] {
  const idOf = (name: string): number => Number(/-(\d+)\.json$/.exec(name)?.[1])
  return listFolder(folder)
    .filter((name) => !name.startsWith('.') && name.endsWith('.json'))
    .toSorted((one, other) => idOf(one) - idOf(other))
}
