import type { ShopCommand } from './command.ts'

/** The first word of a command line, and the module that defines its commands. */
type Group = { name: string; about: string; load: () => Promise<{ define(program: ShopCommand): void }> }

export const groups: readonly Group[] = [
  { name: 'dev', about: 'run a seeded shop for development', load: () => import('./dev.ts') },
  { name: 'serve', about: 'run the production server', load: () => import('./serve.ts') },
  { name: 'migrate', about: 'bring the database up to date', load: () => import('./migrate.ts') },
  { name: 'seed', about: 'fill the shop from a file, or with the demo shop', load: () => import('./seed.ts') },
  { name: 'admin', about: 'administrators', load: () => import('./admin.ts') },
  { name: 'users', about: 'accounts', load: () => import('./users.ts') },
  { name: 'offers', about: 'the catalogue', load: () => import('./offers.ts') },
  { name: 'coupons', about: 'coupon codes', load: () => import('./coupons.ts') },
  { name: 'shipping', about: 'shipping zones and methods', load: () => import('./shipping.ts') },
  { name: 'tax', about: 'tax rates', load: () => import('./tax.ts') },
  { name: 'modules', about: 'switch modules on and off', load: () => import('./modules.ts') },
  { name: 'settings', about: 'settings of the running shop', load: () => import('./settings.ts') },
  { name: 'orders', about: 'orders and refunds', load: () => import('./orders.ts') },
  { name: 'affiliates', about: 'affiliates', load: () => import('./affiliates.ts') },
  { name: 'referrals', about: 'referrals and payouts', load: () => import('./referrals.ts') },
  { name: 'benefits', about: 'memberships, courses and other benefits', load: () => import('./benefits.ts') },
  { name: 'sandbox', about: 'the sandbox for payments', load: () => import('./sandbox.ts') },
  { name: 'report', about: 'reports', load: () => import('./report.ts') },
  { name: 'stripe', about: "the shop's Stripe account", load: () => import('./stripe.ts') },
  { name: 'webhooks', about: 'webhook endpoints and deliveries', load: () => import('./webhooks.ts') },
  { name: 'events', about: 'the events of the shop', load: () => import('./events.ts') },
  { name: 'mail', about: 'emails of the shop', load: () => import('./mail.ts') },
  { name: 'backup', about: 'copies of the database and the secret key', load: () => import('./backup.ts') },
  { name: 'create', about: 'a website for the shop', load: () => import('./create.ts') },
  { name: 'proxy', about: 'the first-party proxy, and a check of other proxies', load: () => import('./proxy.ts') },
  { name: 'openapi', about: 'the API description', load: () => import('./openapi.ts') },
  { name: 'completion', about: 'completion of commands in a shell', load: () => import('./completion.ts') },
  { name: 'systemd', about: 'a systemd unit', load: () => import('./systemd.ts') },
  { name: 'guide', about: 'the documentation', load: () => import('./guide.ts') },
  { name: 'health', about: 'check the shop', load: () => import('./health.ts') }
]
