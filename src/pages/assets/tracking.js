import { service } from './service.js'

/**
 * Where a visitor came from: the parameters of the landing page's address are sent in the checkout's query. A later
 * landing replaces all of them, so that no affiliate is credited for another's campaign.
 */
const names = ['ref', 'campaign', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content']
const key = 'shopstead.tracking'
const dayMs = 24 * 60 * 60 * 1000
const keptMs = 30 * dayMs

export function rememberLanding() {
  const query = new URLSearchParams(location.search)
  const present = names.filter((name) => query.get(name)).map((name) => [name, query.get(name)])
  if (present.length === 0) return
  const landing = { at: Date.now(), ...Object.fromEntries(present) }
  const isClick = landing.ref !== undefined && !isSameVisit(landing, JSON.parse(localStorage.getItem(key) ?? '{}'))
  localStorage.setItem(key, JSON.stringify(landing))
  // The visitor's page does not depend on it.
  if (isClick) service.countClick(landing.ref).catch(() => undefined)
}

/** A reload, or Back, within the same UTC day. */
function isSameVisit(landing, { at = 0, ref }) {
  return ref === landing.ref && Math.floor(at / dayMs) === Math.floor(landing.at / dayMs)
}

/** The query of a checkout. Without a landing, the affiliate cookie of an earlier order counts. */
export function tracking() {
  const { at = 0, ...landing } = JSON.parse(localStorage.getItem(key) ?? '{}')
  if (Date.now() - at < keptMs) return landing
  return { ref: cookie('shopstead_ref'), campaign: cookie('shopstead_campaign') }
}

function cookie(name) {
  const [, value = ''] = new RegExp(`(?:^|; )${name}=([^;]*)`).exec(document.cookie) ?? []
  return decodeURIComponent(value)
}
