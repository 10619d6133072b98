import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startShop } from '../../support/running-shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { byVariable, set, unset } from './break.ts'
import type { Break } from './break.ts'
import { serveEnded } from '../health-support.ts'
import { listen } from './broken-shop.ts'

export const networkBreaks: Break[] = [
  {
    what: 'a server that is down behind its web server',
    break: (world) => world.shop.stop(),
    check: 'public url',
    status: 'failed',
    message: /status 502/,
    advice: /^Start the server: "systemctl start shopstead"/,
    repair: async (world) => void (world.shop = await world.start())
  },
  {
    what: 'a name that leads to another machine with a copy of the shop',
    async break({ dataDir, front, onEnd }) {
      const copy = temporaryFolder(onEnd)
      writeFileSync(join(copy, 'secret.key'), readFileSync(join(dataDir, 'secret.key')), { mode: 0o600 })
      const other = await startShop({ dataDir: copy })
      onEnd(() => other.stop())
      front.to = other.url
    },
    check: 'public url',
    status: 'failed',
    message: /Another Shopstead server answers/,
    advice: /DNS record/,
    repair: (world) => void (world.front.to = world.shop.url)
  },
  {
    what: 'a name that leads to another website',
    break: async ({ front, onEnd }) => {
      front.to = await listen(onEnd, (_request, response) => response.writeHead(404).end('nothing'))
    },
    check: 'public url',
    status: 'failed',
    message: /does not answer at .* \(status 404/,
    advice: /pass on every path to this server/,
    repair: (world) => void (world.front.to = world.shop.url)
  },
  {
    what: 'a web server that drops cookies',
    break: ({ front }) => void (front.spoil = (answer) => void delete answer.headers['set-cookie']),
    check: 'public url',
    status: 'failed',
    message: /lacks the session cookie/,
    advice: /pass on Set-Cookie/,
    repair: ({ front }) => void (front.spoil = () => undefined)
  },
  {
    what: 'a web server that changes cookies',
    break({ front }) {
      front.spoil = ({ headers }) => {
        const cookies = headers['set-cookie']
        if (cookies !== undefined) headers['set-cookie'] = cookies.map((cookie) => `${cookie}; Domain=shop.example`)
      }
    },
    check: 'public url',
    status: 'failed',
    message: /changes the session cookie/,
    advice: /pass on Set-Cookie unchanged/,
    repair: ({ front }) => void (front.spoil = () => undefined)
  },
  {
    what: 'a web server that is down',
    break: set({ SHOPSTEAD_PUBLIC_URL: 'http://127.0.0.1:2' }),
    check: 'public url',
    status: 'warning',
    message: /does not answer: .*ECONNREFUSED/,
    advice: /web server in front of it: "systemctl status caddy"/,
    repair: (world) => void (world.env = { ...world.soundEnv })
  },
  {
    what: 'a certificate that has ended',
    break: async (world) => set({ SHOPSTEAD_PUBLIC_URL: await serveEnded(world.onEnd) })(world),
    check: 'public url',
    status: 'warning',
    message: /does not answer: .*certificate/i,
    advice: /renew it/,
    repair: (world) => void (world.env = { ...world.soundEnv })
  },
  {
    what: 'a public URL without https in production',
    break: set({ SHOPSTEAD_ENV: 'production', SHOPSTEAD_ALLOW_HTTP: 'true' }),
    check: 'public url',
    status: 'failed',
    message: /is not https/,
    advice: /Serve the shop over https/,
    repair: byVariable('SHOPSTEAD_PUBLIC_URL')
  },
  {
    what: 'a proxy that is not trusted',
    async break(world) {
      await world.shop.visitor({ 'x-forwarded-for': '203.0.113.9' }).get('/health')
      unset('SHOPSTEAD_TRUSTED_PROXIES')(world)
    },
    check: 'forwarded requests',
    status: 'failed',
    message: /127\.0\.0\.1 forwards requests/,
    advice: /add it/,
    repair: byVariable('SHOPSTEAD_TRUSTED_PROXIES')
  },
  {
    what: 'a port that another program has',
    async break(world) {
      await world.shop.stop()
      set({ SHOPSTEAD_PORT: new URL(world.soundEnv['SHOPSTEAD_PUBLIC_URL'] ?? '').port })(world)
    },
    check: 'server',
    status: 'warning',
    message: /another program listens on its port \d+/,
    advice: /"ss -ltnp sport = :\d+" shows that program: stop it, or set SHOPSTEAD_PORT/,
    async repair(world) {
      world.env = { ...world.soundEnv }
      world.shop = await world.start()
    }
  },
  {
    what: 'a wrong password of the mail server',
    break: (world) =>
      set({ SHOPSTEAD_SMTP_URL: (world.soundEnv['SHOPSTEAD_SMTP_URL'] ?? '').replace('right', 'wrong') })(world),
    check: 'smtp',
    status: 'failed',
    message: /^The mail server refuses the login \(Invalid login with …\)\.$/,
    advice: /user and password/,
    repair: byVariable('SHOPSTEAD_SMTP_URL')
  },
  {
    what: 'a mail server that is down',
    break: set({ SHOPSTEAD_SMTP_URL: 'smtp://127.0.0.1:1' }),
    check: 'smtp',
    status: 'failed',
    message: /^The mail server does not answer\.$/,
    advice: /host and port/,
    repair: byVariable('SHOPSTEAD_SMTP_URL')
  },
  {
    what: 'a shop in production that sends no mail',
    break: (world) => {
      set({ SHOPSTEAD_ENV: 'production', SHOPSTEAD_ALLOW_HTTP: 'true' })(world)
      delete world.env['SHOPSTEAD_SMTP_URL']
    },
    check: 'smtp',
    status: 'failed',
    message: /is not set/,
    advice: /sends no email/,
    repair: byVariable('SHOPSTEAD_SMTP_URL')
  }
]
