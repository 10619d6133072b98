/** Where a visitor came from, as a checkout sends it in its query. */
export type Tracking = {
  ref?: string | undefined
  campaign?: string | undefined
  utm_source?: string | undefined
  utm_medium?: string | undefined
  utm_campaign?: string | undefined
  utm_content?: string | undefined
}

/** A visit by an affiliate's link. */
export type LinkClick = { ref: string; campaign?: string }
/** A click as the shop counts it. `current` is the ref of an earlier one whose days are not over. */
export type SentClick = LinkClick & { current?: string }

/**
 * What a browser keeps of its landings, with times in epoch milliseconds. `click` counts for `days` from `at`. `asked` is
 * one whose answer has not arrived yet.
 */
type Stored = {
  landing?: Omit<Tracking, 'ref'> & { at: number }
  click?: LinkClick & { at: number; days: number }
  asked?: LinkClick & { at: number }
}

const landingNames = ['campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'] as const
const key = 'shopstead.tracking'
/** The longest value that the shop takes. A longer one would make the address of a checkout too long for web servers. */
const longest = 200
const dayMs = 24 * 60 * 60 * 1000
/** For values without a ref. */
const landingMs = 30 * dayMs
/** For a click that the shop has not answered: the fewest days that it may allow. Each page asks again. */
const unansweredMs = dayMs

/** What a browser has and a server does not. */
type Browser = {
  location?: { search: string; href?: string; origin?: string; protocol?: string }
  document?: { cookie: string; referrer?: string }
  history?: { state: unknown; replaceState: (state: unknown, title: string, url: string) => void }
}

const consentSeconds = 180 * 24 * 60 * 60
type SendClick = (click: SentClick) => Promise<number | null>

/**
 * Stores the tracking parameters of the page's address in the browser. A ref replaces an earlier one only if it would
 * count at a checkout, for the days that the shop allows from the click. Values without a ref, such as those of the shop's
 * own newsletter, leave the ref. Does nothing outside a browser.
 *
 * @param sendClick sends a click to the shop and returns for how many days it counts; null for a ref that does not count.
 *   A reload on the same UTC day is not another click.
 * @param asksConsent whether nothing may be stored before the visitor agrees
 */
export function storeLanding(sendClick: SendClick, { asksConsent = false }: { asksConsent?: boolean } = {}): void {
  if (asksConsent && storedConsent() !== true) return carryVisit()
  const { ref, campaign, ...utm } = readAddress()
  const stored = readStored()
  const at = Date.now()
  // The campaign of a link belongs to its ref.
  const values = ref === undefined && campaign !== undefined ? { campaign, ...utm } : utm
  if (Object.keys(values).length > 0) stored.landing = { ...values, at }
  else if (ref !== undefined) delete stored.landing
  const click = ref === undefined ? undefined : { ref, ...(campaign === undefined ? {} : { campaign }) }
  if (click !== undefined && !isSameVisit(stored.click, click, at)) stored.asked = { ...click, at }
  writeStored(stored)
  const { asked } = stored
  if (asked === undefined) return
  const earlier = isCurrent(stored.click, at) ? stored.click?.ref : undefined
  const current = earlier === asked.ref ? undefined : earlier
  // The visitor's page does not depend on it. Without an answer, the next page asks again.
  sendClick({
    ref: asked.ref,
    ...(asked.campaign === undefined ? {} : { campaign: asked.campaign }),
    ...(current === undefined ? {} : { current })
  }).then(
    (days) => takeAnswer(asked, days),
    () => undefined
  )
}

/** Whether the visitor lets the site store where they came from; null before they answer. */
export function storedConsent(): boolean | null {
  const answer = cookieIn(browser().document?.cookie ?? '', 'consent')
  return answer === undefined ? null : answer === 'yes'
}

/** Remembers the visitor's answer. Stores the landing of this visit, or deletes what was stored. */
export function setConsent(isGiven: boolean, sendClick: SendClick): void {
  const { document, location } = browser()
  if (document === undefined) return
  const secure = location?.protocol === 'https:' ? '; Secure' : ''
  const set = (name: string, value: string, seconds: number): void => {
    document.cookie = `shopstead_${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Lax${secure}`
  }
  set('consent', isGiven ? 'yes' : 'no', consentSeconds)
  if (isGiven) return storeLanding(sendClick)
  set('ref', '', 0)
  set('campaign', '', 0)
  try {
    localStorage.removeItem(key)
  } catch {
    // The browser stores nothing, so there is nothing to delete.
  }
}

/** Keeps the values of a visit in the address, page by page, without storing anything in the browser. */
function carryVisit(): void {
  const { document, location, history } = browser()
  const { href, origin } = location ?? {}
  if (document?.referrer === undefined || href === undefined || Object.keys(readAddress()).length > 0) return
  if (!URL.canParse(document.referrer)) return
  const from = new URL(document.referrer)
  const carried = Object.entries(valuesIn(from.searchParams))
  if (from.origin !== origin || carried.length === 0) return
  const here = new URL(href)
  for (const [name, value] of carried) if (value !== undefined) here.searchParams.set(name, value)
  history?.replaceState(history.state, '', here.href)
}

function isCurrent(click: Stored['click'], now: number): boolean {
  return click !== undefined && now - click.at < click.days * dayMs
}

function takeAnswer(asked: NonNullable<Stored['asked']>, days: number | null): void {
  const { asked: open, ...stored } = readStored()
  if (open?.at !== asked.at) return
  writeStored(days === null ? stored : { ...stored, click: { ...asked, days } })
}

function isSameVisit(last: Stored['click'], { ref, campaign }: LinkClick, at: number): boolean {
  return last?.ref === ref && last.campaign === campaign && Math.floor(last.at / dayMs) === Math.floor(at / dayMs)
}

/**
 * The query of a checkout: the affiliate's link whose click still counts, and the other values of the last landing within
 * 30 days. Without a stored click, the affiliate cookie that the shop has set counts. Empty outside a browser.
 */
export function storedTracking(): Tracking {
  const { document } = browser()
  if (document === undefined) return {}
  const stored = readStored()
  const { at = 0, ...landing } = stored.landing ?? {}
  const values: Omit<Tracking, 'ref'> = Date.now() - at < landingMs ? landing : {}
  const click = currentClick(stored, document.cookie)
  // Without consent, only the address of the visit has them.
  if (click === undefined) return { ...values, ...readAddress() }
  // No affiliate is credited for another's campaign.
  const { campaign: _other, ...rest } = values
  return { ref: click.ref, ...(click.campaign === undefined ? {} : { campaign: click.campaign }), ...rest }
}

function currentClick({ click, asked }: Stored, cookies: string): LinkClick | undefined {
  const now = Date.now()
  if (isCurrent(click, now)) return click
  if (asked !== undefined && now - asked.at < unansweredMs) return asked
  const ref = cookieIn(cookies, 'ref')
  // An order must not extend a click that has ended.
  if (ref === undefined || ref === click?.ref) return undefined
  const campaign = cookieIn(cookies, 'campaign')
  return { ref, ...(campaign === undefined ? {} : { campaign }) }
}

function readAddress(): Tracking {
  return valuesIn(new URLSearchParams(browser().location?.search))
}

function valuesIn(query: URLSearchParams): Tracking {
  const found = (['ref', ...landingNames] as const).flatMap((name) => {
    const value = query.get(name)
    return value && value.length <= longest ? [[name, value]] : []
  })
  return Object.fromEntries(found) as Tracking
}

function browser(): Browser {
  return globalThis as Browser
}

function readStored(): Stored {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? '{}') ?? {}) as Stored
  } catch {
    return {}
  }
}

function writeStored(stored: Stored): void {
  try {
    if (Object.keys(stored).length > 0 || localStorage.getItem(key) !== null)
      localStorage.setItem(key, JSON.stringify(stored))
  } catch {
    // The browser refuses to store, so only the click counts.
  }
}

function cookieIn(cookies: string, name: 'ref' | 'campaign' | 'consent'): string | undefined {
  const value = new RegExp(`(?:^|; )shopstead_${name}=([^;]+)`).exec(cookies)?.[1]
  try {
    return value === undefined ? undefined : decodeURIComponent(value)
  } catch {
    // Another site of the same domain has set it.
    return undefined
  }
}
