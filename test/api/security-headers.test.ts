import { describe, expect, it, onTestFinished } from 'vitest'
import { startShop } from '../support/running-shop.ts'

const paths = [
  '/api/v1/health',
  '/api/v1/nothing',
  '/api/secure/health',
  '/',
  '/docs',
  '/openapi.json',
  '/livez',
  '/no'
]

/** A header of the response to GET on each path. */
async function headerOf(name: string, env: Record<string, string>): Promise<Record<string, string | null>> {
  const shop = await startShop({ env })
  onTestFinished(() => shop.stop())
  const answers = paths.map(async (path) => {
    const { headers } = await fetch(`${shop.url}${path}`, { headers: { accept: 'text/html' } })
    return [path, headers.get(name)] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

const everywhere = (value: string | null) => Object.fromEntries(paths.map((path) => [path, value]))

describe('Strict-Transport-Security', () => {
  it('is on every response when the public URL is https', async () => {
    const sent = await headerOf('strict-transport-security', { SHOPSTEAD_PUBLIC_URL: 'https://shop.example' })
    expect(sent).toEqual(everywhere('max-age=31536000'))
  })

  it('is on no response when the public URL is http', async () => {
    const sent = await headerOf('strict-transport-security', { SHOPSTEAD_PUBLIC_URL: 'http://shop.example' })
    expect(sent).toEqual(everywhere(null))
  })
})

describe('pages', () => {
  it('isolates pages from windows of other sites and from the devices of the browser', async () => {
    const pages = { '/': 'same-origin', '/docs': 'same-origin', '/no': 'same-origin' }
    expect(await headerOf('cross-origin-opener-policy', {})).toEqual({ ...everywhere(null), ...pages })
    const policies = await headerOf('permissions-policy', {})
    for (const path of Object.keys(pages)) expect(policies[path]).toContain('microphone=()')
  })
})

it('sends nosniff with every response', async () => {
  expect(await headerOf('x-content-type-options', {})).toEqual(everywhere('nosniff'))
})

it('no cache keeps the probes', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  for (const path of ['/livez', '/readyz']) {
    const { status, headers } = await fetch(`${shop.url}${path}`)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  }
})
