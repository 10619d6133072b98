import type { App } from '../../app.ts'
import { randomToken, sameBytes, tokenHash } from '../../platform/crypto/secrets.ts'
import { cookieValues, ownCookie, ownCookieName, serializeCookie } from '../../platform/http/cookies.ts'
import { notFound } from '../../platform/http/answers.ts'
import { isDeskOn } from '../../shop/desk/people.ts'
import { findDeskSession } from '../../shop/desk/sessions.ts'
import type { PageReply } from '../page.ts'
import type { Visit } from './view.ts'

/** How people get to the desk: by passkeys on the shop's server, or by a link on the machine itself. */
export type DeskAccess = {
  /** Whether there is a desk for this request. */
  isOpenTo(request: Request): boolean
  /** Who sent a request; undefined for someone who is not logged in. */
  find(request: Request, now: number): Visit | undefined
  /** What someone who is not logged in sees. */
  whereToLogIn(path: string): PageReply
  /** Whether people log in by passkeys. */
  readonly hasPasskeys: boolean
  /** Takes the token of a one-time link and returns the cookie of its session; undefined for another token. */
  useLink(token: string): string | undefined
}

/** The access of the shop's server: people with passkeys, while the desk is switched on. */
export function passkeyAccess(app: App): DeskAccess {
  return {
    hasPasskeys: true,
    isOpenTo: () => isDeskOn(app),
    find(request, now) {
      const [token, ...others] = cookieValues(request.headers.get('cookie'), ownCookieName(app, 'desk'))
      // A cookie that was sent twice is refused, because one of the two was planted.
      const found = token === undefined || others.length > 0 ? undefined : findDeskSession(app.db, token, now)
      if (found === undefined) return undefined
      const { session, person } = found
      const actor = { personId: person.id, role: person.role, isProven: false }
      return { actor, person, session, tokenHash: session.tokenHash }
    },
    whereToLogIn: (path) => ({
      redirect: path === '/desk' ? '/desk/login' : `/desk/login?next=${encodeURIComponent(path)}`
    }),
    useLink: () => undefined
  }
}

/** The Set-Cookie value of a session of the desk. Without a token it ends the cookie. */
export function deskCookie(app: App, token: string | null): string {
  return token === null ? ownCookie(app, 'desk', '', 0) : ownCookie(app, 'desk', token, null)
}

/**
 * The access of "shopstead desk open": one link, for who has a shell on the machine. Nothing is stored, and all ends with
 * the process.
 *
 * @param host the address that the browser must name, so that a page of another site cannot reach it by DNS rebinding
 */
export function linkAccess(host: () => string): DeskAccess & { token: string } {
  const token = randomToken()
  const session = randomToken()
  const same = (left: string, right: string): boolean =>
    sameBytes(Buffer.from(tokenHash(left)), Buffer.from(tokenHash(right)))
  // Cookies do not know ports: another program on this machine must not overwrite this one by its name.
  const name = `shopstead_desk_${tokenHash(token).slice(0, 12)}`
  let isUsed = false
  return {
    token,
    hasPasskeys: false,
    isOpenTo: (request) => request.headers.get('host') === host(),
    find(request) {
      const [sent, ...others] = cookieValues(request.headers.get('cookie'), name)
      if (sent === undefined || others.length > 0 || !isUsed || !same(sent, session)) return undefined
      const actor = { personId: null, role: 'owner', isProven: true } as const
      return { actor, person: null, session: null, tokenHash: tokenHash(session) }
    },
    whereToLogIn() {
      throw notFound()
    },
    useLink(sent) {
      if (isUsed || !same(sent, token)) return undefined
      isUsed = true
      return serializeCookie(name, session, { sameSite: 'Strict' })
    }
  }
}
