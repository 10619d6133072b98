import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Download, Locator } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { cardsSoldBy } from '../../src/shop/gift-cards/cards.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { shopDay } from '../../src/shop/settings/shop-days.ts'
import { enableDesk } from '../support/desk-visitor.ts'
import { laterTasks, monthShelf, openingTasks, purchases } from '../support/month.ts'
import type { TaskTitle } from '../support/month.ts'
import { orderOf } from '../support/month-orders.ts'
import { makeUser } from '../support/people.ts'
import { startShop } from '../support/running-shop.ts'
import { launchBrowser, lookOnPhone } from './support/chromium.ts'
import { personOnPhone } from './support/desk-phone.ts'

// The thirty tasks of the month at the desk: on a phone's width, by a passkey, and with the keyboard alone.

const started = await startShop({ seed: monthShelf })
const shop = { ...started, url: started.app.publicUrl() }
const browser = await launchBrowser()
afterAll(async () => {
  await browser.close()
  await shop.stop()
})
const { app } = shop
const now = app.clock.now()
const dayOf = (days: number): string => shopDay(app.db, now + days * 86_400_000)
setSetting(app.db, 'shop.country', 'DE', now)
setSetting(app.db, 'checkout.heldOrdersPerAddress', '1000', now)
enableDesk(app)
await makeUser(app, { email: 'mona@shop.example', marketingOptIn: true, verified: true })
const picture = join(shop.dataDir, 'gansey.jpg')
writeFileSync(
  picture,
  await sharp({ create: { width: 400, height: 300, channels: 3, background: '#a04020' } })
    .jpeg()
    .toBuffer()
)
const { page, complaints } = await personOnPhone(shop, browser, 'owner', 'anna@shop.example')

/** The orders by the name of their buyer, and the gift card that Lou bought. */
const ids: Record<string, string> = {}
const order = (name: string): string => `/desk/orders/${ids[name] ?? ''}`

const open = (path: string): Promise<unknown> => page.goto(`${shop.url}${path}`)
const link = (name: string | RegExp): Locator => page.getByRole('link', { name, exact: true }).first()
const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
const field = (name: string | RegExp): Locator => page.getByLabel(name, { exact: typeof name === 'string' }).first()
const shown = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

/** Moves the focus with the Tab key until something has it. */
async function reach(what: Locator): Promise<void> {
  await what.waitFor()
  for (let step = 0; step < 150; step += 1) {
    if ((await what.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${String(what)}`)
}

async function press(what: Locator): Promise<void> {
  await reach(what)
  await page.keyboard.press('Enter')
}

async function type(what: Locator, text: string): Promise<void> {
  await reach(what)
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

/** A browser in English asks for month, day and year. */
async function typeDay(what: Locator, day: string): Promise<void> {
  const [year = '', month = '', date = ''] = day.split('-')
  await reach(what)
  await page.keyboard.type(`${month}${date}${year}`)
  expect(await what.inputValue()).toBe(day)
}

async function tick(what: Locator): Promise<void> {
  await reach(what)
  await page.keyboard.press('Space')
}

/** Sends the form, and confirms it by the passkey or a button if the page asks for that. Takes a picture before. */
async function send(name: string): Promise<void> {
  await press(button(name))
  const sure = page.locator('form[data-passkey] button[type=submit], form:has(input[name=sure]) button[type=submit]')
  await sure.or(page.getByText('Done.')).first().waitFor()
  if (await sure.isVisible()) await press(sure)
  await shown('Done.')
}

async function download(name: string): Promise<Download> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    (async () => {
      await press(button(name))
      await press(page.locator('form[data-passkey] button[type=submit]'))
    })()
  ])
  return file
}

/** Opens an action of an order by its link. */
async function act(name: string, action: string): Promise<void> {
  await open(order(name))
  await press(link(action))
}

async function ship(name: string): Promise<void> {
  await act(name, 'Ship')
  await send('Ship')
}

/** A task that the desk leaves to the command line, with the reason. */
type LeftToCommand = { why: string }

const tasks: Record<TaskTitle, (() => Promise<unknown>) | LeftToCommand> = {
  'offer a new product in three sizes with a picture': async () => {
    await open('/desk/products')
    await press(link('New product'))
    await type(field('Name'), 'Gansey')
    await type(field('Price'), '89')
    await type(field('Options'), 'Size=S,M,L')
    await reach(field('Picture'))
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')])
    await chooser.setFiles(picture)
    await send('Add the product')
    await press(link('Variations'))
    for (const [size, stock] of [
      ['S', '3'],
      ['M', '5'],
      ['L', '2']
    ] as const)
      await type(field(new RegExp(`${size}: Stock`)), stock)
    await send('Save')
    await page.getByRole('row', { name: /M.*5/ }).waitFor()
  },
  'raise a price': async () => {
    await open('/desk/products/mug')
    await press(link('Edit'))
    await type(field('Price'), '13.50')
    await send('Save')
    await shown('€13.50')
  },
  'take in a delivery': async () => {
    await open('/desk/products/mug')
    await press(link('Stock'))
    await type(field('Or add to the stock'), '24')
    await send('Save')
    await shown('44 in stock')
  },
  'bring in the list of a supplier': {
    why: 'a file with many products is checked on the machine, where a trial run shows what it would change'
  },
  'create a coupon for the newsletter': async () => {
    await open('/desk/discounts')
    await press(link('New coupon'))
    await type(field('Code'), 'SPRING')
    await type(field('Percent'), '10')
    await type(field('At most for all buyers'), '100')
    await send('New coupon')
    await shown('SPRING')
  },
  'lower a price for some days': async () => {
    await open('/desk/discounts')
    await press(link('New sale'))
    await type(field('Name'), 'Spring days')
    await type(field('Percent'), '20')
    await typeDay(field('From'), dayOf(1))
    await typeDay(field('Last day'), dayOf(7))
    await type(field('Only for these products'), 'lamp')
    await send('New sale')
    await shown('Spring days')
  },
  'issue a gift card as an apology': async () => {
    await open('/desk/gift-cards/issue')
    await type(field('Amount'), '20')
    await type(field('Reason, for the history'), 'late parcel')
    await type(field('Email of the recipient'), 'fay@shop.example')
    await send('Issue a gift card')
    await shown('fay@shop.example')
  },
  'list what is to be packed, with packing slips': async () => {
    await open('/desk/orders')
    await press(link('To pack'))
    await shown(/Gansey/)
    await lookOnPhone(page, 'desk-month-to-pack')
    await press(link('Packing slips of all'))
    await shown(/Gansey/)
    await page.goBack()
  },
  'correct a wrong street': async () => {
    await act('ada', 'Edit the buyer')
    await type(field('Street and number'), 'Quay 9')
    await send('Edit the buyer')
    await shown(/Quay 9/)
  },
  'ship an order with its tracking number': async () => {
    await act('ada', 'Ship')
    await type(field('Carrier'), 'DHL')
    await type(field('Tracking number'), '00340434161094042557')
    await send('Ship')
    await shown('DHL 00340434161094042557')
  },
  'ship a part of an order': async () => {
    await act('ben', 'Ship')
    await type(field(/^2\. /), '2')
    await send('Ship')
    await link('Ship').waitFor()
  },
  'hand over what a buyer picks up': async () => {
    await act('olga', 'Mark as completed')
    await send('Mark as completed')
    await shown('Completed')
  },
  'enter an order by phone and send its link': async () => {
    await open('/desk/orders')
    await press(link('New order'))
    for (const [label, text] of [
      ['Email', 'nils@shop.example'],
      ['What they order', 'lamp:1'],
      ['First name', 'Nils'],
      ['Last name', 'Berg'],
      ['Street and number', 'Quay 7'],
      ['Postcode', '20457'],
      ['Town or city', 'Hamburg'],
      ['Country', 'DE']
    ] as const)
      await type(field(label), text)
    await type(field('Short name of the shipping method'), 'parcel')
    await tick(field('Send the link to the buyer'))
    await send('New order')
    ids['nils'] = /orders\/(\d+)/.exec(page.url())?.[1] ?? ''
  },
  'record a bank transfer': async () => {
    await act('nils', 'Record the payment')
    await send('Record the payment')
    await shown('To pack')
  },
  'correct a mistyped email': async () => {
    await act('cleo', 'Edit the buyer')
    await type(field('Email'), 'cleo@shop.example')
    await send('Edit the buyer')
    await shown('cleo@shop.example')
  },
  'send a receipt again': async () => {
    await act('cleo', 'Send an email again')
    await send('Send an email again')
  },
  'take a line out of a paid order': async () => {
    await act('dora', 'Change items or shipping')
    await type(field(/^2\. /), '0')
    await send('Change items or shipping')
    await shown('€13.50')
  },
  'add something to a paid order': async () => {
    await act('emil', 'Change items or shipping')
    await type(field('What to add'), 'lamp:1')
    await send('Change items or shipping')
    await shown('Orders that add to it')
  },
  'cancel an order that was not paid': async () => {
    await act('jon', 'Cancel the order')
    await send('Cancel the order')
    await shown('Cancelled')
  },
  'put a company on an invoice': async () => {
    await act('mona', 'Edit the buyer')
    await type(field('Company'), 'Slow Coast Ltd')
    await send('Edit the buyer')
    await shown(/Slow Coast Ltd/)
    await shown(/Credit note/i)
  },
  'return the money for a broken piece': async () => {
    await act('fay', 'Refund')
    await type(field(/^1\. /), '1')
    await tick(field('Put nothing back into the stock'))
    await type(field('Reason, for the history'), 'broken in transit')
    await send('Refund')
    await shown('€13.50')
  },
  'return a part of the price as goodwill': async () => {
    await act('gil', 'Refund')
    await type(field('An amount instead'), '5')
    await type(field('Reason, for the history'), 'late parcel')
    await send('Refund')
    await shown('€5.00')
  },
  'expect goods that come back': async () => {
    await ship('ivo')
    await act('ivo', 'Expect a return')
    await type(field(/^1\. /), '1')
    await send('Expect a return')
    await shown('Return 1')
  },
  'take goods back and refund them': async () => {
    await act('ivo', 'Goods are back')
    await tick(field('Put the goods back into the stock'))
    await send('Goods are back')
    await shown('€40.00')
  },
  'exchange a size': async () => {
    await ship('hana')
    await act('hana', 'Goods are back')
    await type(field(/^1\. /), '1')
    await type(field('What they get instead'), 'gansey/GANSEY-M:1')
    await tick(field('Put the goods back into the stock'))
    await send('Goods are back')
    await shown('Exchanged')
  },
  'block a stolen gift card': async () => {
    await open(`/desk/gift-cards/${ids['cardOfLou'] ?? ''}`)
    await press(link('Block it'))
    await send('Block it')
    await shown('Blocked')
  },
  'find the buyers of a recalled product': async () => {
    await open('/desk/orders')
    await type(field('Contains (slug or SKU)'), 'lamp')
    await press(button('Search'))
    await shown('nils@shop.example')
    const found = await page.locator('.desk-list li').allInnerTexts()
    const names = new Set(found.map((text) => /(\w+)@shop\.example/.exec(text)?.[1]))
    expect(names).toEqual(new Set(['ben', 'dora', 'emil', 'gil', 'ivo', 'jon', 'nils']))
  },
  'export who wants news': async () => {
    await open('/desk/customers')
    await press(link('Export who wants news'))
    await lookOnPhone(page, 'desk-month-news')
    const file = await download('Export who wants news')
    expect(file.suggestedFilename()).toBe('news.csv')
  },
  'close the shop for a holiday': async () => {
    await open('/desk/settings')
    await press(link('Go on holiday'))
    await typeDay(field('Last day'), dayOf(7))
    await type(field('What the shop says'), 'We are back next week.')
    await send('Go on holiday')
    await shown(/End the holiday/)
  },
  'hand the documents to the accountant': async () => {
    await open(`/desk/documents/archive?from=${dayOf(-1)}&to=${dayOf(1)}`)
    const file = await download('Download all as one file')
    expect(file.suggestedFilename()).toMatch(/\.zip$/)
  }
}

async function doTask({ title }: { title: TaskTitle }): Promise<void> {
  const task = tasks[title]
  if (typeof task !== 'function') return
  await task()
  await lookOnPhone(page, `desk-month-${title.replaceAll(/[^a-z]+/g, '-')}`)
  expect(complaints).toEqual([])
}

it.each(openingTasks)('$title', doTask)

it('the buyers order on the website', async () => {
  const card = issueByOperator(app.db, { amount: 20, reason: 'late parcel' }, now)
  for (const [name, purchase] of Object.entries(purchases)) ids[name] = await orderOf(shop, name, purchase, card.code)
  ids['cardOfLou'] = String(cardsSoldBy(app.db, Number(ids['lou']))[0]?.id)
})

it.each(laterTasks)('$title', doTask)
