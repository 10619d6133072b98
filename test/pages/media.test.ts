import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startShop } from '../support/running-shop.ts'

it('serves a picture to every site, immutable, with ranges, HEAD and 304, and nothing else of the folder', async () => {
  const shop = await startShop()
  onTestFinished(() => shop.stop())
  const folder = join(shop.app.config.dataDir, 'media')
  mkdirSync(folder)
  const name = `${'a'.repeat(32)}-400.webp`
  writeFileSync(join(folder, name), '0123456789')
  writeFileSync(join(folder, 'notes.txt'), 'private')
  const get = (path: string, init: RequestInit = {}) => fetch(`${shop.url}/media/${path}`, init)
  const whole = await get(name)
  expect([whole.status, await whole.text(), Object.fromEntries(whole.headers)]).toMatchObject([
    200,
    '0123456789',
    {
      'content-type': 'image/webp',
      'content-length': '10',
      'cache-control': 'public, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin'
    }
  ])
  const etag = whole.headers.get('etag') ?? ''
  expect(etag).toBe(`"${'a'.repeat(32)}-400"`)
  const part = await get(name, { headers: { range: 'bytes=2-4' } })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10'])
  const [head, known, far, post] = await Promise.all([
    get(name, { method: 'HEAD' }),
    get(name, { headers: { 'if-none-match': `W/${etag}` } }),
    get(name, { headers: { range: 'bytes=10-' } }),
    get(name, { method: 'POST' })
  ])
  expect([head.status, head.headers.get('content-length'), known.status, far.status, post.status]).toEqual([
    200,
    '10',
    304,
    416,
    405
  ])
  for (const path of [
    'notes.txt',
    '',
    `..%2fmedia%2f${name}`,
    `${'a'.repeat(32)}-800.webp`,
    `${'A'.repeat(32)}-400.webp`
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404])
})
