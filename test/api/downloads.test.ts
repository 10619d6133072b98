import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { refundOrder } from '../../src/shop/payments/refund.ts'
import { switchModule } from '../../src/shop/settings/settings.ts'
import { benefitCatalog } from '../journeys/catalog.ts'
import { buy, logIn, dayMs, me, registerUser, openShop, writeDownload } from '../journeys/shop.ts'
import type { JourneyShop } from '../journeys/shop.ts'
import { rawRequest } from '../support/raw-http.ts'
import type { Browser } from '../support/browser.ts'

const text = '0123456789'

type Download = { id: number; productId: number; name: string; url: string; expiresAt: string }

async function listed(visitor: Browser): Promise<Download[]> {
  return (await visitor.get<{ downloads: Download[] }>('/me/downloads')).data.downloads
}

/** Somebody who has bought the song, and its link. */
async function bought(slug = 'song', file = 'song.txt') {
  const shop = await openShop(benefitCatalog)
  writeDownload(shop, file, text)
  const lena = await registerUser(shop, 'lena')
  const { orderId } = await buy(shop, lena, slug)
  const [download] = await listed(lena)
  if (download === undefined) throw new Error('You have no downloads.')
  return { shop, lena, orderId, download, link: `${shop.url}${download.url}` }
}

function get(link: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(link, { headers, method })
}

const ranged = async (link: string, range: string, more: Record<string, string> = {}) => {
  const answer = await get(link, { range, ...more })
  return [answer.status, answer.headers.get('content-range'), answer.headers.get('content-length'), await answer.text()]
}

async function refused(shop: JourneyShop, link: string): Promise<void> {
  const answer = await get(link)
  const body = await answer.text()
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store'])
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'NOT_FOUND', details: {} } })
  expect(body).not.toContain(shop.dataDir)
}

describe('the list of downloads', () => {
  it('has exactly the documented fields, with a path of this shop', async () => {
    const { download, lena } = await bought('charts', 'charts/north sea.pdf')
    expect(download).toEqual({
      id: 1,
      productId: expect.any(Number),
      name: 'north sea.pdf',
      url: expect.stringMatching(/^\/downloads\/[\w.-]+$/),
      expiresAt: '2026-01-16T12:00:00.000Z'
    })
    const answer = await lena.get('/me/downloads')
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  })

  it('requires a session, and is empty for a user without downloads', async () => {
    const { shop } = await bought()
    const anonymous = await shop.visitor().get('/me/downloads')
    expect([anonymous.status, anonymous.error.code]).toEqual([401, 'NOT_AUTHENTICATED'])
    expect(await listed(await registerUser(shop, 'other'))).toEqual([])
  })

  it('is empty without the permission or the module, and full again with them', async () => {
    const { shop, lena } = await bought('charts', 'charts/north sea.pdf')
    switchModule(shop.app.db, 'downloads', false, shop.clock.now())
    expect(await listed(lena)).toEqual([])
    switchModule(shop.app.db, 'downloads', true, shop.clock.now())
    expect(await listed(lena)).toHaveLength(1)
    shop.clock.advance(30 * dayMs)
    const back = await logIn(shop, 'lena')
    expect(await listed(back)).toEqual([])
    await buy(shop, back, 'charts')
    expect(await listed(back)).toHaveLength(1)
  })
})

describe('a download', () => {
  it('is the file, as an attachment that is not cached and not executed', async () => {
    const { link } = await bought('charts', 'charts/north sea.pdf')
    const answer = await get(link)
    expect([answer.status, await answer.text()]).toEqual([200, text])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'content-disposition': `attachment; filename="north_sea.pdf"; filename*=UTF-8''north%20sea.pdf`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[^"]+"$/)
    })
  })

  it('needs no session: the link is a bearer token', async () => {
    const { shop, download } = await bought()
    expect((await shop.visitor().fetch(`${shop.url}${download.url}`)).status).toBe(200)
  })

  it('sends only headers for HEAD, and refuses every other method', async () => {
    const { shop, download, link } = await bought()
    const head = await rawRequest(shop.url, 'HEAD', download.url)
    expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '10', ''])
    const part = await rawRequest(shop.url, 'HEAD', download.url, ['Range: bytes=2-3'])
    expect([part.status, part.headers.get('content-length'), part.body]).toEqual([200, '10', ''])
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await get(link, {}, method)
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })

  it('supports ranges', async () => {
    const { link } = await bought()
    expect(await ranged(link, 'bytes=0-3')).toEqual([206, 'bytes 0-3/10', '4', '0123'])
    expect(await ranged(link, 'bytes=4-')).toEqual([206, 'bytes 4-9/10', '6', '456789'])
    expect(await ranged(link, 'bytes=-3')).toEqual([206, 'bytes 7-9/10', '3', '789'])
    expect(await ranged(link, 'bytes=-99')).toEqual([206, 'bytes 0-9/10', '10', text])
    expect(await ranged(link, 'bytes=8-99')).toEqual([206, 'bytes 8-9/10', '2', '89'])
    expect(await ranged(link, 'bytes=9-9')).toEqual([206, 'bytes 9-9/10', '1', '9'])
    expect(await ranged(link, 'bytes=8-99999999999999999999')).toEqual([206, 'bytes 8-9/10', '2', '89'])
    expect(await ranged(link, 'BYTES=0-0')).toEqual([206, 'bytes 0-0/10', '1', '0'])
  })

  it('refuses a range outside the file', async () => {
    const { link } = await bought()
    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])
      expect([range, ...(await ranged(link, range)).slice(0, 2)]).toEqual([range, 416, 'bytes */10'])
  })

  it('is complete when the range is invalid', async () => {
    const { link } = await bought()
    for (const range of ['bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-2', 'lines=0-3', 'bytes=0-1,4-5', 'bytes=1.5-2'])
      expect([range, ...(await ranged(link, range))]).toEqual([range, 200, null, '10', text])
  })

  it('continues an interrupted download only while the file is unchanged', async () => {
    const { shop, link } = await bought()
    const etag = (await get(link)).headers.get('etag') ?? ''
    expect(await ranged(link, 'bytes=4-', { 'if-range': etag })).toEqual([206, 'bytes 4-9/10', '6', '456789'])
    writeFileSync(join(shop.dataDir, 'downloads', 'song.txt'), 'another song')
    expect(await ranged(link, 'bytes=4-', { 'if-range': etag })).toEqual([200, null, '12', 'another song'])
    for (const other of [`W/${etag}`, '"x"', 'Thu, 15 Jan 2026 12:00:00 GMT', ''])
      expect((await ranged(link, 'bytes=4-', { 'if-range': other }))[0]).toBe(200)
  })

  it('is complete when it is empty or large', async () => {
    const { shop, link } = await bought()
    writeFileSync(join(shop.dataDir, 'downloads', 'song.txt'), '')
    const empty = await get(link)
    expect([empty.status, empty.headers.get('content-length'), await empty.text()]).toEqual([200, '0', ''])
    expect((await ranged(link, 'bytes=0-'))[0]).toBe(416)
    const large = Buffer.alloc(5_000_000, 'lantern ')
    writeFileSync(join(shop.dataDir, 'downloads', 'song.txt'), large)
    expect(Buffer.from(await (await get(link)).arrayBuffer()).equals(large)).toBe(true)
    expect((await ranged(link, 'bytes=4999999-'))[3]).toBe(' ')
  })
})

describe('an invalid link', () => {
  it('is not found when it was changed', async () => {
    const { shop, download } = await bought()
    const token = download.url.slice('/downloads/'.length)
    const [id = '', expiry = '', signature = ''] = token.split('.')
    const forged = [
      `2.${expiry}.${signature}`,
      `${id}.zzzzzzzz.${signature}`,
      `${id}.${expiry}.${'A'.repeat(43)}`,
      `${id}.${expiry}`,
      `${id}.${expiry}.${signature}A`,
      `${id}.${expiry}.${signature.toLowerCase()}`,
      `0${id}.${expiry}.${signature}`,
      `${id}.${expiry.toUpperCase()}.${signature}`,
      `-1.${expiry}.${signature}`,
      `99999999999999999.${expiry}.${signature}`,
      `${token}/`,
      `${token}/../song.txt`,
      'song.txt',
      ''
    ]
    for (const attempt of forged) await refused(shop, `${shop.url}/downloads/${attempt}`)
    expect((await get(`${shop.url}${download.url}`)).status).toBe(200)
  })

  it('is not found by a path outside the folder', async () => {
    const { shop, download } = await bought()
    const tricks = [
      '/downloads/..%2f..%2fsecret.key',
      '/downloads/..%2fshopstead.db',
      '/downloads/../shopstead.db',
      '/downloads/%2e%2e/secret.key',
      '/downloads/..\\secret.key',
      '/downloads//etc/passwd',
      '/downloads/%00',
      '/downloads/song.txt',
      `/downloads//${download.url.slice('/downloads/'.length)}`,
      `/DOWNLOADS${download.url.slice('/downloads'.length)}`,
      `/downloads/%31${download.url.slice('/downloads/1'.length)}`,
      `/x/..${download.url}`,
      `${download.url};a`,
      `${download.url}%20`
    ]
    for (const target of tricks) {
      const answer = await rawRequest(shop.url, 'GET', target)
      expect([target, answer.status]).toEqual([target, 404])
      expect(answer.body).not.toMatch(/SQLite format|root:/)
    }
    expect((await rawRequest(shop.url, 'GET', `${download.url}?x=1`)).status).toBe(200)
  })

  it('does not follow a symbolic link out of the folder', async () => {
    const { shop, link } = await bought()
    const file = join(shop.dataDir, 'downloads', 'song.txt')
    for (const target of [join(shop.dataDir, 'shopstead.db'), '/etc/passwd', shop.dataDir]) {
      unlinkSync(file)
      symlinkSync(target, file)
      await refused(shop, link)
    }
    unlinkSync(file)
    await refused(shop, link)
    writeFileSync(file, 'la la')
    expect((await fetch(link)).status).toBe(200)
  })

  it('expires after a day, and a new one is listed', async () => {
    const { shop, lena, link } = await bought()
    shop.clock.advance(dayMs - 1)
    expect((await get(link)).status).toBe(200)
    const [fresh] = await listed(lena)
    shop.clock.advance(1)
    await refused(shop, link)
    expect((await get(`${shop.url}${fresh?.url}`)).status).toBe(200)
  })

  it("stops working after a refund, without the module, and with its owner's deactivated account", async () => {
    const { shop, lena, orderId, link } = await bought()
    switchModule(shop.app.db, 'downloads', false, shop.clock.now())
    await refused(shop, link)
    switchModule(shop.app.db, 'downloads', true, shop.clock.now())
    expect((await get(link)).status).toBe(200)
    const other = await registerUser(shop, 'other')
    await buy(shop, other, 'song')
    const others = `${shop.url}${(await listed(other))[0]?.url}`
    const { id } = (await me(other)).user
    write(shop.app.db, (tx) => void deactivateUser(tx, id, shop.clock.now()))
    await refused(shop, others)
    await refundOrder(shop.app, orderId, {}, 'operator')
    await refused(shop, link)
    expect(await listed(lena)).toEqual([])
  })
})
