import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createClient, ShopError } from '@shopstead/client'
import { Eta } from 'eta'
import { readBody } from './body.ts'
import { addressHeader, shopPublicUrl, shopUrl, site } from './site.ts'
import { showRoute, storeRoutes } from './storefront/routes.ts'
import type { StoreRoute } from './storefront/routes.ts'
import { PageNotFound, templateData } from './storefront/site.ts'
import type { AddressForm, ShownPage, Visit } from './storefront/site.ts'

const templates = new Eta({
  views: join(import.meta.dirname, 'templates'),
  cache: process.env['NODE_ENV'] === 'production',
  autoEscape: true
})

const assets = {
  icon: '/assets/shop.svg',
  style: '/assets/style.css'
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${shopPublicUrl}${site.logoUrl === '' ? '' : ` ${new URL(site.logoUrl).origin}`}`,
    // A form without script leads to the payment page.
    `form-action 'self' ${shopPublicUrl} https://checkout.stripe.com`,
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join('; '),
  // Addresses contain tokens of orders, which other sites must not get.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff'
}

/** Shows a page of storefront/routes.ts. */
export async function sendPage(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const matching = storeRoutes.filter((route) => route.path.test(url.pathname))
  const route = matching.find((candidate) => (candidate.method ?? 'GET') === method)
  if (matching.length > 0 && route === undefined) return void res.writeHead(405).end()
  if (method === 'POST' && isCrossSite(req)) return void res.writeHead(403).end('This form came from another site.\n')
  await sendRoute(route ?? missing, url, req, res)
}

const missing: StoreRoute = {
  name: 'missing',
  path: /$^/,
  show: () => {
    throw new PageNotFound()
  }
}

async function sendRoute(route: StoreRoute, url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const cookies: string[] = []
  const { shown, isInstead } = await showRoute(route, visitOf(route, url, req, cookies), url.pathname).catch(closed)
  if ('redirect' in shown) {
    const location = shown.redirect
    const setCookie = [...cookies, ...(shown.cookies ?? [])]
    const status = shown.isMoved ? 301 : 303
    return void res.writeHead(status, { location, 'cache-control': 'no-store', 'set-cookie': setCookie }).end()
  }
  if ('text' in shown) {
    return void res
      .writeHead(200, { 'content-type': shown.type, 'cache-control': 'public, max-age=300' })
      .end(shown.text)
  }
  const scripts = route.script === undefined || isInstead ? [] : [`/assets/${route.script}.js`]
  const data = { ...templateData(shown, site, url.pathname), assets, scripts }
  const html = templates.render(`${shown.template}.eta`, data)
  res.writeHead(shown.status ?? 200, { ...pageHeaders, 'set-cookie': [...cookies, ...(shown.cookies ?? [])] })
  res.end(req.method === 'HEAD' ? undefined : html)
}

/** The page while the shop does not answer. */
function closed(error: unknown): { shown: ShownPage; isInstead: boolean } {
  if (!(error instanceof ShopError) || (error.code !== 'NO_ANSWER' && error.code !== 'DEPENDENCY_UNAVAILABLE'))
    throw error
  const { t } = site
  const links = [{ label: t('link.shop'), url: '/' }]
  const shown = { status: 503, template: 'message', title: t('closed'), data: { text: t('closedText'), links } }
  return { shown, isInstead: true }
}

function visitOf(route: StoreRoute, url: URL, req: IncomingMessage, cookies: string[]): Visit {
  const headers = new Headers({ cookie: req.headers.cookie ?? '' })
  const sentAddress = addressHeader === undefined ? undefined : req.headers[addressHeader]
  const clientAddress = typeof sentAddress === 'string' ? sentAddress : req.socket.remoteAddress
  return {
    site,
    client: createClient({
      baseUrl: `${shopUrl}/api/v1`,
      request: { headers },
      // What the shop says, orders and emails are in the language of this site.
      headers: { 'accept-language': site.language },
      clientAddress,
      onSetCookie: ({ header }) => cookies.push(header)
    }),
    query: url.searchParams,
    param: route.path.exec(url.pathname)?.[1] ?? '',
    cookie: (name) => new RegExp(`(?:^|; )${name}=([^;]*)`).exec(req.headers.cookie ?? '')?.[1],
    form: async () => new URLSearchParams(await readBody(req)),
    addressForm: (typed, check) => fetchAddressForm(req, typed, check)
  }
}

/** The shop knows how each country writes an address. */
async function fetchAddressForm(
  req: IncomingMessage,
  typed: Readonly<Record<string, string>>,
  check: boolean
): Promise<AddressForm> {
  const response = await fetch(`${shopUrl}/cart/address`, {
    method: 'POST',
    headers: { accept: 'application/json', 'accept-language': site.language },
    body: new URLSearchParams({ ...typed, check: check ? '1' : '' })
  }).catch((cause: unknown) => {
    throw new ShopError('NO_ANSWER', site.t('closedText'), { cause })
  })
  return (await response.json()) as AddressForm
}

/** Whether another site sent this form. */
function isCrossSite({ headers }: IncomingMessage): boolean {
  const fetchSite = headers['sec-fetch-site']
  if (typeof fetchSite === 'string') return fetchSite !== 'same-origin' && fetchSite !== 'none'
  return headers.origin !== undefined && headers.origin !== new URL(site.publicUrl).origin
}
