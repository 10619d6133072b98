import type { ShopCommand } from './run.ts'

/** The parts of `shopstead --help`, in its order. */
export const sections = {
  everyday: 'Every day:',
  selling: 'Selling:',
  service: 'Running the service:',
  site: 'Building a site:',
  help: 'Help:'
} as const

/** The first word of a command line, its part of the help, and the module that defines its commands. */
type Group = {
  name: string
  use: keyof typeof sections
  about: string
  load: () => Promise<{ define(program: ShopCommand): void }>
}

export const groups: readonly Group[] = [
  { name: 'dev', use: 'site', about: 'run a seeded shop for development', load: () => import('./site/dev.ts') },
  { name: 'serve', use: 'service', about: 'run the production server', load: () => import('./running/serve.ts') },
  {
    name: 'init',
    use: 'service',
    about: 'begin a new shop',
    load: async () => ({ define: (await import('./running/migrate.ts')).defineInit })
  },
  {
    name: 'migrate',
    use: 'service',
    about: 'bring the database up to date',
    load: () => import('./running/migrate.ts')
  },
  {
    name: 'seed',
    use: 'site',
    about: 'fill the shop from a file, or with the demo shop',
    load: () => import('./site/seed.ts')
  },
  { name: 'import', use: 'service', about: 'move in from another shop', load: () => import('./shop/import.ts') },
  { name: 'admin', use: 'service', about: 'administrators', load: () => import('./people/admin.ts') },
  { name: 'desk', use: 'service', about: "the shop's office in the browser", load: () => import('./people/desk.ts') },
  { name: 'users', use: 'everyday', about: 'accounts', load: () => import('./people/users.ts') },
  {
    name: 'groups',
    use: 'selling',
    about: 'groups of customers with prices of their own',
    load: () => import('./people/customer-groups.ts')
  },
  { name: 'offers', use: 'everyday', about: 'the catalog', load: () => import('./offers/offers.ts') },
  {
    name: 'redirects',
    use: 'selling',
    about: 'old addresses and where each leads now',
    load: () => import('./offers/redirects.ts')
  },
  { name: 'sales', use: 'selling', about: 'lower prices for some days', load: () => import('./offers/sales.ts') },
  { name: 'coupons', use: 'selling', about: 'coupon codes', load: () => import('./offers/coupons.ts') },
  {
    name: 'commissions',
    use: 'selling',
    about: 'commission rates of products, categories and coupons',
    load: () => import('./offers/commissions.ts')
  },
  { name: 'gift-cards', use: 'selling', about: 'gift cards', load: () => import('./offers/gift-cards.ts') },
  { name: 'shipping', use: 'selling', about: 'shipping zones and methods', load: () => import('./offers/shipping.ts') },
  { name: 'tax', use: 'selling', about: 'tax rates and VAT ids', load: () => import('./offers/tax.ts') },
  {
    name: 'modules',
    use: 'service',
    about: 'switch modules on and off',
    load: async () => ({ define: (await import('./shop/settings.ts')).defineModules })
  },
  { name: 'settings', use: 'service', about: 'settings of the running shop', load: () => import('./shop/settings.ts') },
  { name: 'law', use: 'selling', about: 'terms, privacy, imprint, withdrawal', load: () => import('./shop/law.ts') },
  {
    name: 'holiday',
    use: 'selling',
    about: 'stop taking orders until a day',
    load: () => import('./shop/holiday.ts')
  },
  { name: 'orders', use: 'everyday', about: 'orders and refunds', load: () => import('./orders/orders.ts') },
  { name: 'affiliates', use: 'selling', about: 'affiliates', load: () => import('./people/affiliates.ts') },
  { name: 'referrals', use: 'selling', about: 'referrals of affiliates', load: () => import('./people/referrals.ts') },
  { name: 'payouts', use: 'selling', about: 'payments to affiliates', load: () => import('./people/payouts.ts') },
  {
    name: 'benefits',
    use: 'selling',
    about: 'memberships, courses and other benefits',
    load: () => import('./people/benefits.ts')
  },
  { name: 'sandbox', use: 'site', about: 'the sandbox for payments', load: () => import('./site/sandbox.ts') },
  { name: 'report', use: 'everyday', about: 'reports', load: () => import('./shop/report.ts') },
  { name: 'stripe', use: 'service', about: "the shop's Stripe account", load: () => import('./shop/stripe.ts') },
  {
    name: 'webhooks',
    use: 'service',
    about: 'webhook endpoints and deliveries',
    load: () => import('./shop/webhooks.ts')
  },
  { name: 'events', use: 'service', about: 'the events of the shop', load: () => import('./shop/events.ts') },
  { name: 'mail', use: 'everyday', about: 'emails of the shop', load: () => import('./shop/mail.ts') },
  {
    name: 'backup',
    use: 'service',
    about: 'copies of the database and the secret key',
    load: () => import('./running/backup.ts')
  },
  {
    name: 'replicate',
    use: 'service',
    about: 'copy each change to another machine',
    load: async () => ({ define: (await import('./running/replica.ts')).defineReplicate })
  },
  {
    name: 'restore',
    use: 'service',
    about: 'bring the shop of a lost machine back',
    load: async () => ({ define: (await import('./running/replica.ts')).defineRestore })
  },
  {
    name: 'promote',
    use: 'service',
    about: 'make the machine that follows the shop',
    load: async () => ({ define: (await import('./running/replica.ts')).definePromote })
  },
  { name: 'create', use: 'site', about: 'a website for the shop', load: () => import('./site/create.ts') },
  {
    name: 'proxy',
    use: 'site',
    about: 'the first-party proxy, and a check of other proxies',
    load: () => import('./site/proxy.ts')
  },
  { name: 'openapi', use: 'site', about: 'the API description', load: () => import('./site/openapi.ts') },
  {
    name: 'completion',
    use: 'help',
    about: 'completion of commands in a shell',
    load: () => import('./help/completion.ts')
  },
  { name: 'systemd', use: 'service', about: 'a systemd unit', load: () => import('./running/systemd.ts') },
  { name: 'guide', use: 'help', about: 'the documentation', load: () => import('./help/guide.ts') },
  { name: 'health', use: 'everyday', about: 'check the shop', load: () => import('./running/health.ts') }
]
