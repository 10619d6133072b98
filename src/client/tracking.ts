/** Where a visitor came from, as a checkout sends it in its query. */
export type Tracking = {
  ref?: string | undefined
  campaign?: string | undefined
  utm_source?: string | undefined
  utm_medium?: string | undefined
  utm_campaign?: string | undefined
  utm_content?: string | undefined
}

type Landing = Tracking & { at?: number }

const names = ['ref', 'campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const
const key = 'shopstead.tracking'
/** The longest value that the shop takes. A longer one would make the address of a checkout too long for web servers. */
const longest = 200
const dayMs = 24 * 60 * 60 * 1000
const storedMs = 30 * dayMs

/** What a browser has and a server does not. */
type Browser = { location?: { search: string }; document?: { cookie: string } }

/**
 * Stores the tracking parameters of the page's address in the browser. A later landing replaces all of them, so that no
 * affiliate is credited for another's campaign. Does nothing outside a browser.
 *
 * @param countClick sends the click of an affiliate's link. A reload on the same UTC day is not another click.
 */
export function storeLanding(countClick: (ref: string) => Promise<unknown>): void {
  const query = new URLSearchParams(browser().location?.search)
  const landing: Landing = {}
  for (const name of names) {
    const value = query.get(name)
    if (value && value.length <= longest) landing[name] = value
  }
  if (Object.keys(landing).length === 0) return
  const at = Date.now()
  const { ref } = landing
  const last = readLanding()
  const isSameVisit = ref === last.ref && Math.floor((last.at ?? 0) / dayMs) === Math.floor(at / dayMs)
  try {
    localStorage.setItem(key, JSON.stringify({ at, ...landing }))
  } catch {
    // The browser refuses to store, so only the click counts.
  }
  // The visitor's page does not depend on it.
  if (ref !== undefined && !isSameVisit) countClick(ref).catch(() => undefined)
}

/**
 * The query of a checkout: the last landing within 30 days. Without one, the affiliate cookie of an earlier order counts.
 * Empty outside a browser.
 */
export function storedTracking(): Tracking {
  const { document } = browser()
  if (document === undefined) return {}
  const { at = 0, ...landing } = readLanding()
  if (Date.now() - at < storedMs) return landing
  return { ref: cookieIn(document.cookie, 'ref'), campaign: cookieIn(document.cookie, 'campaign') }
}

function browser(): Browser {
  return globalThis as Browser
}

function readLanding(): Landing {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? '{}') ?? {}) as Landing
  } catch {
    return {}
  }
}

function cookieIn(cookies: string, name: 'ref' | 'campaign'): string | undefined {
  const value = new RegExp(`(?:^|; )shopstead_${name}=([^;]+)`).exec(cookies)?.[1]
  try {
    return value === undefined ? undefined : decodeURIComponent(value)
  } catch {
    // Another site of the same domain has set it.
    return undefined
  }
}
