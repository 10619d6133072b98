import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { checkOut, handoff, loggedIn, mug, shopFor } from '../api/checkout-support.ts'
import { quay } from '../support/addresses.ts'
import { shopstead } from '../support/command-line.ts'
import { nextMail } from '../support/mail-files.ts'

const pages = ['imprint', 'privacy', 'terms', 'withdrawal']

async function germanShop() {
  const shop = await shopFor({
    env: { SHOPSTEAD_PAYMENTS: 'sandbox,manual' },
    settings: {
      'shop.country': 'DE',
      'shop.name': 'Leuchtturm',
      'shop.legal': 'Leuchtturm GmbH\nKai 7\n20457 Hamburg',
      'shop.languages': 'de,fr',
      'storefront.enabled': 'true',
      'storefront.language': 'de'
    }
  })
  const run = async <T>(...words: string[]) => shopstead<T>(shop.dataDir, [...words, '--json'])
  const read = async (path: string, language = 'de') =>
    shop.visitor({ 'accept-language': language }).fetch(`${shop.url}${path}`)
  const fileOf = (name: string): string => join(shop.dataDir, 'law', name)
  const fill = (name: string): void =>
    writeFileSync(fileOf(name), readFileSync(fileOf(name), 'utf8').replaceAll(/\[\[[^\]]*\]\]/g, 'here'))
  return { shop, run, read, fileOf, fill }
}

it('a shop writes its law texts, fills them in, and buyers read them on pages, in the checkout and in the receipt', async () => {
  const { shop, run, read, fileOf, fill } = await germanShop()
  const lawCheck = async () => {
    const { json } = await run<{ checks: { name: string; status: string; message: string }[] }>('health')
    return json.checks.find(({ name }) => name === 'law texts')
  }
  expect(await lawCheck()).toMatchObject({
    status: 'warning',
    message: /no page for: terms, withdrawal, privacy, imprint/
  })

  const { json } = await run<{ written: string[] }>('law', 'init')
  expect(json.written).toEqual(
    ['de', 'fr'].flatMap((each) => pages.map((page) => fileOf(`${each}/${page}.md`))).toSorted(byPage)
  )
  expect(readFileSync(fileOf('de/imprint.md'), 'utf8')).toContain('\nLeuchtturm GmbH\nKai 7\n20457 Hamburg\n')
  expect(readFileSync(fileOf('de/withdrawal.md'), 'utf8')).not.toMatch(/\{\{/)

  expect(await lawCheck()).toMatchObject({
    status: 'warning',
    message: /de\/imprint\.md has blanks: Vorname und Name; /
  })
  expect((await read('/law/imprint')).status).toBe(404)
  expect(await (await read('/')).text()).not.toContain('/law/')

  for (const page of pages) fill(`de/${page}.md`)
  writeFileSync(fileOf('de/terms.md'), '# Meine AGB\n\nOhne <b>Gewähr</b>.\n')
  expect((await run<{ written: string[] }>('law', 'init')).json.written).toEqual([])
  expect(readFileSync(fileOf('de/terms.md'), 'utf8')).toContain('Meine AGB')
  const terms = await (await read('/law/terms')).text()
  expect(terms).toContain('<h1 dir="auto">Meine AGB</h1>')
  expect(terms).toContain('Ohne &lt;b&gt;Gewähr&lt;/b&gt;.')
  expect(terms).toMatch(
    /<footer[\s\S]*href="\/law\/terms">AGB<[\s\S]*href="\/law\/withdrawal">Widerrufsrecht<[\s\S]*href="\/law\/privacy">[\s\S]*href="\/law\/imprint">/
  )
  expect(await (await read('/law/withdrawal', 'fr')).text()).toContain('<div class="sheet law" lang="de">')

  const buyer = await loggedIn(shop, 'ada@example.com')
  const sent = { items: [mug], shippingAddress: quay }
  const { data } = await shop.visitor().post<{ checkoutUrl: string }>('/store/checkout-session', sent)
  const checkout = await (await read(new URL(data.checkoutUrl).pathname)).text()
  expect(checkout.slice(checkout.indexOf('Bitte lesen'))).toMatch(
    /^Bitte lesen Sie vor der Bestellung: <a href="\/law\/terms" target="_blank">AGB<\/a>, <a href="\/law\/withdrawal"[\s\S]*<p class="due">[\s\S]*Zahlungspflichtig bestellen/
  )
  await checkOut(buyer, { items: [mug], ...handoff })
  const { text, html } = await nextMail(shop.dataDir, 'ada@example.com', 1)
  expect(text).toContain('Meine AGB\n\nOhne <b>Gewähr</b>.')
  expect(text).toContain('Muster-Widerrufsformular')
  expect(text).toContain(`Vertrag widerrufen (${shop.app.publicUrl()}/withdraw)`)
  expect(text).toMatch(/-- \nLeuchtturm GmbH\n[\s\S]*AGB: http.*\/law\/terms/)
  expect(text.indexOf('Datenschutz:')).toBeGreaterThan(text.indexOf('-- \n'))
  expect(html).toContain('Ohne &lt;b&gt;Gewähr&lt;/b&gt;.')
})

it('names files that cannot be used, and prefers the pages of a site', async () => {
  const { shop, run, fileOf, read } = await germanShop()
  mkdirSync(fileOf('de'), { recursive: true })
  mkdirSync(fileOf('xx'))
  mkdirSync(fileOf('de/imprint.md'))
  writeFileSync(fileOf('de/agb.md'), 'x')
  writeFileSync(fileOf('de/terms.md'), Buffer.from([0xff, 0xfe]))
  writeFileSync(fileOf('de/privacy.md'), ' \n')
  writeFileSync(fileOf('de/withdrawal.md'), 'x'.repeat(200_001))
  const { json } = await run<{ files: object[]; links: object[] }>('law', 'list')
  expect(json).toEqual({
    links: [],
    files: [
      { name: 'de/agb.md', language: 'de', problem: 'is not one of terms.md, withdrawal.md, privacy.md, imprint.md' },
      { name: 'de/imprint.md', page: 'imprint', language: 'de', problem: 'is not a file' },
      { name: 'de/privacy.md', page: 'privacy', language: 'de', problem: 'is empty' },
      { name: 'de/terms.md', page: 'terms', language: 'de', problem: 'is not UTF-8 text' },
      { name: 'de/withdrawal.md', page: 'withdrawal', language: 'de', problem: 'is longer than 200000 bytes' },
      { name: 'xx', language: null, problem: 'is not the folder of a language: en, de, fr' }
    ].map((file) => ({ page: null, blanks: [], ...file }))
  })
  expect((await read('/law/terms')).status).toBe(404)
  setSetting(shop.app.db, 'storefront.termsUrl', 'https://site.example/agb', 0)
  expect(await (await read('/')).text()).toContain('<a href="https://site.example/agb">AGB</a>')
  expect(existsSync(fileOf('fr'))).toBe(false)
})

function byPage(a: string, b: string): number {
  const order = ['terms', 'withdrawal', 'privacy', 'imprint']
  const rank = (path: string): number =>
    (path.includes('/fr/') ? 10 : 0) + order.findIndex((page) => path.endsWith(`${page}.md`))
  return rank(a) - rank(b)
}
