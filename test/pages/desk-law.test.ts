import { afterAll, expect, it } from 'vitest'
import { enableDesk, hiddenOf, personAtDesk } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'

const shop = await startShop()
enableDesk(shop.app)
afterAll(() => shop.stop())

const shown = async (): Promise<number> => (await fetch(`${shop.url}/law/terms`)).status

it('writes the starting texts, fills one in, and refuses an empty one and one that changed meanwhile', async () => {
  const owner = await personAtDesk(shop, 'owner')
  expect((await owner.get('/desk/law')).html).toContain('Missing')
  expect((await owner.send('/desk/law/init')).location).toBe('/desk/law?done')
  expect((await owner.get('/desk/law')).html).toContain('Not shown yet')
  expect(await shown()).toBe(404)
  const path = '/desk/law/en/terms'
  const old = hiddenOf((await owner.get(path)).html)
  const empty = await owner.send(path, { text: '  ' })
  expect([empty.status, empty.html.includes('id="text-error"')]).toEqual([422, true])
  expect((await owner.send(path, { text: '# Our terms\r\n\r\nWe sell lanterns.' })).location).toBe('/desk/law?done')
  expect(await shown()).toBe(200)
  expect((await owner.get(path)).html).toContain('We sell lanterns.')
  expect((await owner.post(path, { ...old, text: 'Other' })).status).toBe(409)
  for (const unknown of ['/desk/law/xx/terms', '/desk/law/en/menu'])
    expect([unknown, (await owner.get(unknown)).status]).toEqual([unknown, 404])
})
