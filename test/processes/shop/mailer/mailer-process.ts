import { openDatabase } from '../../../../src/platform/db/database.ts'
import { createMailTransport } from '../../../../src/platform/mail/transport.ts'
import { deliverDueMail, startMailer } from '../../../../src/shop/mailer/mailer.ts'
import type { ShopContext } from '../../../../src/shop/context.ts'
import { parseConfig } from '../../../../src/platform/config/config.ts'
import { createLogger } from '../../../../src/platform/log.ts'
import { deriveKeys } from '../../../../src/platform/crypto/secrets.ts'
import { join } from 'node:path'

// Runs the mailer in a process that a test can kill: node mailer-process.ts DATA_DIR NOW [SMTP_URL]
// With a channel to the test it runs until SIGTERM. Each message is the next time, and is answered.
const [dataDir = '', start = '0', smtpUrl = ''] = process.argv.slice(2)
let now = Number(start)
const log = createLogger({ env: 'test', level: 'silent' })
const shop = {
  config: parseConfig({ SHOPSTEAD_ENV: 'test', SHOPSTEAD_DATA_DIR: dataDir }),
  db: openDatabase(join(dataDir, 'shopstead.db')),
  clock: { now: () => now },
  log,
  keys: deriveKeys('a secret for tests, of forty characters.'),
  publicUrl: () => 'http://localhost:3000'
} as ShopContext
const transport = createMailTransport({
  smtpUrl: smtpUrl === '' ? null : smtpUrl,
  from: 'shop@localhost',
  folder: join(dataDir, 'mail'),
  log
})
if (process.channel === undefined) await deliverDueMail(shop, transport)
else {
  const mailer = startMailer(shop, transport)
  process.on('message', (time) => {
    now = Number(time)
    process.send?.(now)
    // Sends beside the mailer, which looks for emails twice a second.
    void deliverDueMail(shop, transport)
  })
  process.on('SIGTERM', () => {
    process.disconnect()
    void mailer.stop()
  })
}
