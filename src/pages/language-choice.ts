import type { App } from '../app.ts'
import { rawPath, rawTarget } from '../platform/http/client-address.ts'
import { cookieValues, ownCookie, ownCookieName } from '../platform/http/cookies.ts'
import { browserLanguage, inLanguage, languageOf, offeredLanguages } from '../shop/settings/language.ts'
import type { PageReply } from './page.ts'

/** Browsers keep a cookie for at most 400 days (RFC 6265bis). */
const maxAgeSeconds = 400 * 24 * 60 * 60
const parameter = 'lang'

/** The shop in the language of a visitor: the one that they chose on a page, else that of their browser. */
export function forVisitor(app: App, request: Request): App {
  const offered = offeredLanguages(app.db)
  if (offered.length === 1) return inLanguage(app, offered[0] ?? null)
  const sent = cookieValues(request.headers.get('cookie'), ownCookieName(app, 'language'))
  const chosen = offered.find((tag) => sent.includes(tag))
  return inLanguage(app, chosen ?? browserLanguage(app.db, request.headers.get('accept-language')))
}

/** Remembers the language that a link of a page names (`?lang=de`), and leads to the page without it; null without one. */
export function chooseLanguage(app: App, request: Request): PageReply | null {
  const target = rawTarget(request)
  if (request.method !== 'GET' || !target.includes(`${parameter}=`)) return null
  const path = rawPath(target)
  const query = new URLSearchParams(target.slice(path.length))
  const wanted = query.get(parameter)
  const chosen = offeredLanguages(app.db).find((tag) => tag === wanted)
  if (chosen === undefined) return null
  query.delete(parameter)
  // A path that begins with two slashes would lead to another site.
  const plain = path.replace(/^\/+/, '/')
  return {
    redirect: query.size === 0 ? plain : `${plain}?${query.toString()}`,
    setCookie: [ownCookie(app, 'language', chosen, maxAgeSeconds)]
  }
}

/** The address that shows a page in another language, relative to the page. */
export function languageUrl(request: Request): (tag: string) => string {
  const target = rawTarget(request)
  const query = new URLSearchParams(target.slice(rawPath(target).length))
  return (tag) => {
    query.set(parameter, tag)
    return `?${query.toString()}`
  }
}

/** The languages of the shop by their own names, with the one that is shown; none in a shop with one language. */
export function languageLinks(app: App): { tag: string; name: string; isShown: boolean }[] {
  const offered = offeredLanguages(app.db)
  if (offered.length === 1) return []
  const shown = languageOf(app)
  return offered.map((tag) => ({
    tag,
    name: new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag,
    isShown: tag === shown
  }))
}
