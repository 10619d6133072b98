import type { ShopCommand, CommonOptions } from '../run.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../app.ts'
import { addCommand, loadConfig, openApp } from '../run.ts'
import { demoLogins } from '../../operations/seeding/logins.ts'
import { addServingOptions } from '../running/serve.ts'
import type { Terminal } from '../terminal/terminal.ts'

type DevOptions = CommonOptions & { host?: string; port?: string; https?: boolean; storefront?: boolean }

export function define(program: ShopCommand): void {
  const about = 'run a shop for development: migrated, seeded when empty, with sandbox payments and emails in files'
  const command = addServingOptions(addCommand(program, 'dev', about, 'dev --port 3000')).option(
    '--no-storefront',
    'run without the demo storefront'
  )
  command.action(async () => {
    const options = command.opts<DevOptions>()
    const { terminal } = command
    const { serveUntilStopped } = await import('../running/sell.ts')
    const config = await loadConfig(terminal, { ...options, storefront: options.storefront ?? true })
    if (config.env === 'production')
      throw new AppError('CONFIG_INVALID', 'SHOPSTEAD_ENV is production: use "shopstead serve".')
    const app = await openApp(terminal, config, 'create')
    try {
      await prepare(app)
      await serveUntilStopped(app, terminal, ({ url }) => announce(app, url, terminal, options.json ?? false))
    } finally {
      app.close()
    }
  })
}

/** Migrates the database, and seeds an empty shop with the demo shop. */
async function prepare(app: App): Promise<void> {
  const { migrateShop } = await import('../../operations/backup/backups.ts')
  const { isEmptyShop, seedDemo } = await import('../../operations/seeding/demo.ts')
  await migrateShop(app, { begins: true })
  const { fetchImages } = await import('../../shop/catalog/images/fetch-images.ts')
  if (!isEmptyShop(app.db)) return
  await seedDemo(app, app.clock.now())
  await fetchImages(app, {})
}

function announce(app: App, url: string, { stdout, messages }: Terminal, asJson: boolean): void {
  const apiRoot = `${app.publicUrl()}${app.config.apiPrefix}`
  const proxyRoot = `${app.publicUrl()}/api/secure`
  const logins = demoLogins(app.db)
  if (asJson) {
    stdout.write(`${JSON.stringify({ url: app.publicUrl(), apiRoot, proxyRoot, logins })}\n`)
    return
  }
  messages.success(`Shopstead listens on ${url}`)
  if (app.config.storefront !== false) messages.log(`  Storefront ${app.publicUrl()}/`)
  messages.log(`  API        ${apiRoot}  (described at ${app.publicUrl()}/docs)`)
  messages.log(`  Proxy      ${proxyRoot}`)
  messages.log(`  Data       ${app.config.dataDir}`)
  if (logins.length > 0) messages.log(`  Logins     all with the password ${logins[0]?.password ?? ''}`)
  const widest = Math.max(...logins.map(({ email }) => email.length))
  for (const { email, role, affiliateCode } of logins)
    messages.log(`    ${email.padEnd(widest)}  ${role}${affiliateCode === null ? '' : ` "${affiliateCode}"`}`)
}
