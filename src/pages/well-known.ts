import { notFound } from '../platform/http/answers.ts'
import { setting } from '../shop/settings/settings.ts'
import type { PageRoute } from './page.ts'

const dayMs = 24 * 60 * 60_000
/** RFC 9116 recommends less than a year. */
const validDays = 180

/** `/.well-known/security.txt`: where to report security problems (RFC 9116). It stays valid while the shop runs. */
export const wellKnownPages: readonly PageRoute[] = [
  {
    method: 'GET',
    path: /^\/\.well-known\/security\.txt$/,
    name: '/.well-known/security.txt',
    handle({ app, now }) {
      const contact = setting(app.db, 'shop.securityContact')
      if (contact === '') throw notFound()
      const expires = new Date((Math.floor(now / dayMs) + validDays) * dayMs)
      const lines = [
        `Contact: ${contact.startsWith('https:') ? contact : `mailto:${contact}`}`,
        `Expires: ${expires.toISOString()}`,
        `Canonical: ${app.publicUrl()}/.well-known/security.txt`
      ]
      return { text: `${lines.join('\n')}\n`, type: 'text/plain; charset=utf-8' }
    }
  }
]
