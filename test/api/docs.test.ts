import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
let html: string
let headers: Headers
beforeAll(async () => {
  shop = await startShop()
  const response = await fetch(`${shop.url}/docs`)
  headers = response.headers
  html = await response.text()
})
afterAll(() => shop.stop())

it('describes every endpoint on the reference page', () => {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  for (const { method, path } of routes) {
    expect(html).toContain(`<span class="method">${method}</span> <code>${path}</code>`)
  }
  for (const word of ['items[].quantity', 'affiliateVisitConverted', 'CHECKOUT_FAILED', 'Idempotency-Key', 'X-Nonce']) {
    expect(html).toContain(word)
  }
})

it('loads nothing else on the reference page', () => {
  expect(html).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|style="/i)
  const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, target]) => target)
  expect(links.filter((target) => !target?.startsWith('#'))).toEqual(['/openapi.json'])
  for (const link of links.filter((target) => target?.startsWith('#'))) {
    expect(html).toContain(`id="${link?.slice(1)}"`)
  }
})

it('allows the reference page its own style and nothing else in the policy', async () => {
  const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? ''
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64')
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  )
})

it('does not allow writes to the description', async () => {
  for (const path of ['/docs', '/openapi.json']) {
    const head = await fetch(`${shop.url}${path}`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await fetch(`${shop.url}${path}`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
})

it('answers 304 to a client that has the description, and sends it compressed', async () => {
  for (const path of ['/docs', '/openapi.json']) {
    const full = await fetch(`${shop.url}${path}`, { headers: { 'accept-encoding': 'identity' } })
    const etag = full.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/)
    const again = await fetch(`${shop.url}${path}`, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const small = await fetch(`${shop.url}${path}`, { headers: { 'accept-encoding': 'br' } })
    expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual(['br', 'Accept-Encoding'])
    expect(await small.text()).toBe(await full.text())
  }
})
