import { afterAll, expect, it } from 'vitest'
import { entriesOf, findCard, getCard, listCards, stateOf } from '../../src/shop/gift-cards/cards.ts'
import { issueByOperator } from '../../src/shop/gift-cards/issue.ts'
import { getPersonByEmail } from '../../src/shop/desk/people.ts'
import { enableDesk, hiddenOf, paidOrder, personAtDesk } from '../support/desk-visitor.ts'
import { startShop } from '../support/running-shop.ts'

const shop = await startShop()
const { app } = shop
enableDesk(app)
afterAll(() => shop.stop())

const issued = (input: object = {}) =>
  issueByOperator(app.db, { amount: 50, reason: 'late parcel', ...input }, app.clock.now())
const newest = () => listCards(app.db, { limit: 1 })[0]?.id ?? 0

it('issues a gift card once, shows its code once, and notes who issued it', async () => {
  const berta = await personAtDesk(shop, 'orders')
  expect((await berta.get('/desk/gift-cards')).html).toContain('There are no gift cards here.')
  const path = '/desk/gift-cards/issue'
  const fields = { ...hiddenOf((await berta.get(path)).html), amount: '25.50', reason: 'late parcel' }
  const made = await berta.confirm(path, await berta.post(path, fields))
  const code = /<code>([0-9A-Z-]{31})<\/code>/.exec(made.html)?.[1] ?? ''
  const card = findCard(app.db, code)
  expect([made.status, card?.balanceMinor]).toEqual([200, 2550])
  const again = await berta.post(path, fields)
  expect([again.status, listCards(app.db, { limit: 9 }).length]).toEqual([409, 1])
  expect(again.html).toContain('shopstead gift-cards issue')
  const page = await berta.get(`/desk/gift-cards/${card?.id}`)
  expect([page.status, page.html.includes('€25.50'), page.html.includes(code)]).toEqual([200, true, false])
  const { id } = getPersonByEmail(app.db, berta.email)
  expect(entriesOf(app.db, card?.id ?? 0)).toMatchObject([{ kind: 'issued', by: `desk:${id}` }])
})

it('refuses a gift card at its fields, keeps what was typed, and mails one with a recipient', async () => {
  const berta = await personAtDesk(shop, 'orders')
  const path = '/desk/gift-cards/issue'
  const before = newest()
  const wrong = await berta.send(path, { amount: '-3', reason: '', to: 'lena at home' })
  expect([wrong.status, newest()]).toEqual([422, before])
  for (const field of ['amount', 'reason', 'to']) expect(wrong.html).toContain(`id="${field}-error"`)
  expect(wrong.html).toContain('value="lena at home"')
  const day = await berta.send(path, { amount: '5', reason: 'gift', expires: '2020-01-01' })
  expect([day.status, day.html.includes('id="expires-error"')]).toEqual([422, true])
  const sent = await berta.send(path, { amount: '5', reason: 'gift', to: 'lena@example.com' })
  expect(sent.location).toBe(`/desk/gift-cards/${newest()}?done`)
  expect(getCard(app.db, newest())).toMatchObject({ recipientEmail: 'lena@example.com', issuedMinor: 500 })
})

it('sends a card to another mailbox only after the passkey, blocks it and lets it pay again', async () => {
  const berta = await personAtDesk(shop, 'orders')
  const { card } = issued({ to: 'lena@example.com' })
  const path = `/desk/gift-cards/${card.id}`
  const wrong = await berta.send(`${path}/mail`, { to: 'nobody' })
  expect([wrong.status, wrong.html.includes('id="to-error"')]).toEqual([422, true])
  const form = await berta.get(`${path}/mail`)
  const asked = await berta.post(`${path}/mail`, { ...hiddenOf(form.html), to: 'mira@example.com' })
  expect([asked.html.includes('data-passkey="get"'), getCard(app.db, card.id).recipientEmail]).toEqual([
    true,
    'lena@example.com'
  ])
  await berta.send(`${path}/mail`, { to: 'mira@example.com' })
  expect(getCard(app.db, card.id).recipientEmail).toBe('mira@example.com')
  await berta.send(`${path}/block`)
  expect(stateOf(getCard(app.db, card.id), app.clock.now())).toBe('blocked')
  expect((await berta.get(path)).html).toContain('Blocked')
  expect((await berta.send(`${path}/mail`, { to: 'mira@example.com' })).status).toBe(409)
  await berta.send(`${path}/unblock`)
  expect(stateOf(getCard(app.db, card.id), app.clock.now())).toBe('active')
})

it('cancels a card that was issued after a confirmation, and refuses one that was sold', async () => {
  const berta = await personAtDesk(shop, 'orders')
  const { card } = issued()
  const path = `/desk/gift-cards/${card.id}/cancel`
  const asking = await berta.post(path, hiddenOf((await berta.get(path)).html))
  expect(asking.html).toContain(`Take €50.00 off gift card ${card.id}?`)
  expect(asking.html).toContain(`shopstead gift-cards cancel ${card.id}`)
  expect((await berta.confirm(path, asking)).status).toBe(303)
  expect((await berta.post(path, hiddenOf(asking.html))).status).toBe(409)
  expect(entriesOf(app.db, card.id).map(({ kind, amountMinor }) => [kind, amountMinor])).toEqual([
    ['issued', 5000],
    ['cancelled', -5000]
  ])
  const orderId = paidOrder(app)
  const sold = issued().card
  app.db.sqlite.prepare('UPDATE gift_cards SET order_id = ?, reason = NULL WHERE id = ?').run(orderId, sold.id)
  expect((await berta.get(`/desk/orders/${orderId}`)).html).toContain(`/desk/gift-cards/${sold.id}`)
  expect((await berta.get(`/desk/gift-cards/${sold.id}`)).html).not.toContain(`/desk/gift-cards/${sold.id}/cancel`)
  const refused = await berta.send(`/desk/gift-cards/${sold.id}/cancel`)
  expect([refused.status, refused.html.includes('Refund that order instead')]).toEqual([409, true])
  expect(getCard(app.db, sold.id).balanceMinor).toBe(5000)
})

it('finds a card by its number, its code and its recipient, and leads through many of them', async () => {
  const berta = await personAtDesk(shop, 'orders')
  const { card, code } = issued({ to: 'one-of@many.example' })
  for (let count = 0; count < 60; count += 1) issued({ to: 'many@many.example' })
  for (const search of [String(card.id), code.toLowerCase(), 'One-Of@many.example']) {
    const { html } = await berta.get(`/desk/gift-cards?${new URLSearchParams({ search }).toString()}`)
    expect([...html.matchAll(/href="\/desk\/gift-cards\/(\d+)"/g)].map(([, id]) => Number(id))).toEqual([card.id])
  }
  expect((await berta.get('/desk/gift-cards?search=nothing')).html).toContain('There are no gift cards here.')
  const seen = new Set<string>()
  let next: string | undefined = '/desk/gift-cards?search=many%40many.example'
  for (let step = 0; next !== undefined && step < 9; step += 1) {
    const { html } = await berta.get(next)
    for (const [, id = ''] of html.matchAll(/href="\/desk\/gift-cards\/(\d+)"/g)) seen.add(id)
    next = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(seen.size).toBe(60)
})
