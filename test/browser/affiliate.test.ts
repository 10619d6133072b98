import { expect, test } from 'vitest'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { runShopstead } from '../support/command-process.ts'
import { addToCart, fillAddress, logIn, look, newVisitor } from './support/chromium.ts'
import { demoPassword, openDemoShop } from './support/demo-shop.ts'

const { shop, browser } = await openDemoShop()

test('a person applies, is approved, sends a buyer, and sees the click, the order and the commission', async () => {
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'new@shop.example', demoPassword)
  await page.getByRole('link', { name: 'Referrals' }).click()
  await page.getByLabel('Your website').fill('https://lights.example')
  await look(page, 'affiliate-apply')
  await page.getByRole('button', { name: 'Become an affiliate' }).click()
  await page.getByRole('heading', { name: 'Your application is being reviewed' }).waitFor()
  await look(page, 'affiliate-pending')

  expect(await page.getByLabel('Your link').count()).toBe(0)
  const code = shop.app.db.sqlite.prepare('SELECT code FROM affiliates ORDER BY id DESC').pluck().get() as string
  expect(await runShopstead(shop.dataDir, ['affiliates', 'approve', code, '--json'])).toMatchObject({ code: 0 })
  await page.reload()
  await page.getByRole('heading', { name: 'No referrals yet' }).waitFor()
  await page.getByRole('img', { name: 'Clicks and orders by day' }).waitFor()
  expect(await page.getByText('0 %', { exact: true }).count()).toBe(1)
  const link = await page.getByLabel('Your link').inputValue()
  expect(new URL(link).searchParams.get('ref')).toBe(code)
  await page.getByRole('button', { name: 'Copy the link' }).click()
  await page.getByText(/^Copied|^The link is selected/).waitFor()
  await look(page, 'referrals-empty')

  const buyer = (await newVisitor(browser)).page
  const clicks = () =>
    shop.app.db.sqlite
      .prepare('SELECT sum(clicks) FROM affiliate_clicks WHERE affiliate_id = (SELECT max(id) FROM affiliates)')
      .pluck()
      .get()
  await buyer.goto(link)
  await expect.poll(clicks).toBe(1)
  const reloaded = buyer.waitForResponse('**/nonce')
  await buyer.reload()
  await reloaded
  await addToCart(buyer, shop.url, 'storm-lantern')
  await buyer.getByLabel('Email for the receipt').fill('buyer@example.com')
  await fillAddress(buyer)
  await buyer.getByRole('button', { name: 'Order and pay' }).click()
  await buyer.waitForURL('**/sandbox/checkout/**')
  await buyer.getByRole('button', { name: /^Pay/ }).click()
  await buyer.waitForURL('**/thanks**')
  await buyer.getByRole('heading', { name: 'Thank you for your order' }).waitFor()

  await page.reload()
  await page.getByRole('cell', { name: 'Earned' }).waitFor()
  const referrals = page.getByRole('region', { name: 'Referrals' })
  // 10 % of €48.00 without 19 % VAT; the shipping does not count.
  expect(await referrals.getByRole('row').nth(1).innerText()).toContain('€4.03')
  // The reload was not another click.
  expect([clicks(), await page.getByText('100 %', { exact: true }).count()]).toEqual([1, 1])
  await page.getByText('Numbers by day').click()
  const numbers = page.getByRole('region', { name: 'Numbers by day' }).getByRole('row').nth(1)
  expect((await numbers.innerText()).split('\t').slice(1)).toEqual(['1', '1', '€4.03'])
  await look(page, 'affiliate-statistics')

  await page.getByText('Make a link to another page').click()
  await page.getByLabel('Page of the shop').fill('https://elsewhere.example/')
  await page.getByRole('button', { name: 'Make the link' }).click()
  await page.getByText(/^Must be a page of the shop/).waitFor()
  await look(page, 'affiliate-link-refused')
  await page.getByLabel('Page of the shop').fill(`${shop.url}/products/storm-lantern`)
  await page.getByLabel('Campaign').fill('spring')
  await page.getByRole('button', { name: 'Make the link' }).click()
  const made = await page.getByLabel('Your new link').inputValue()
  expect(new URL(made).search).toBe(`?ref=${code}&campaign=spring`)
  await buyer.goto(made)
  await expect.poll(clicks).toBe(2)

  for (const words of [
    ['affiliates', 'bonus', code, '--amount', '25', '--reason', 'film'],
    ['payouts', 'pay', '--affiliate', code, '--reference', 'SEPA 7', '--yes']
  ])
    expect(await runShopstead(shop.dataDir, [...words, '--json'])).toMatchObject({ code: 0 })
  await page.goto(`${shop.url}/referrals`)
  const payout = page.getByRole('region', { name: 'Payouts' }).getByRole('row').nth(1)
  expect(await payout.innerText()).toContain('SEPA 7')
  await look(page, 'affiliate-payouts')
  const [statement] = await Promise.all([
    page.waitForEvent('download'),
    payout.getByRole('link', { name: 'CSV' }).click()
  ])
  expect(statement.suggestedFilename()).toMatch(/^payout-\d+\.csv$/)
  expect(complaints).toEqual([])
})

test('an affiliate accepts new terms, pages through all referrals, and each is shown once', async () => {
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'mira@shop.example', demoPassword)
  setSetting(shop.app.db, 'affiliates.termsVersion', '2026-11-01', Date.now())
  setSetting(shop.app.db, 'affiliates.termsGating', 'true', Date.now())
  await page.goto(`${shop.url}/referrals`)
  await page.getByRole('heading', { name: 'New terms' }).waitFor()
  await look(page, 'affiliate-terms')
  await page.getByRole('button', { name: 'I accept them' }).click()
  const more = page.getByRole('link', { name: 'Show older referrals' })
  const cells = page.getByRole('region', { name: 'Referrals' }).locator('tbody td:first-child')
  await more.waitFor()
  await look(page, 'referrals')
  const ids = await cells.allInnerTexts()
  while (await more.isVisible()) {
    const address = page.url()
    await more.click()
    await page.waitForURL((url) => url.href !== address)
    ids.push(...(await cells.allInnerTexts()))
  }
  await page.getByRole('link', { name: 'Show the newest referrals' }).click()
  await more.waitFor()
  expect(ids.length).toBeGreaterThanOrEqual(22)
  expect(new Set(ids).size).toBe(ids.length)
  setSetting(shop.app.db, 'affiliates.termsGating', 'false', Date.now())
  expect(complaints).toEqual([])
})

test('an affiliate who is not active any more is told so', async () => {
  const { page, complaints } = await newVisitor(browser)
  await logIn(page, shop.url, 'petra@shop.example', demoPassword)
  await page.goto(`${shop.url}/referrals`)
  await page.getByRole('heading', { name: 'Your account is not active' }).waitFor()
  await look(page, 'affiliate-inactive')
  shop.app.db.sqlite.prepare("UPDATE affiliates SET status = 'rejected' WHERE code = 'petra'").run()
  await page.reload()
  await page.getByRole('heading', { name: 'Your application was not accepted' }).waitFor()
  await look(page, 'affiliate-rejected')
  expect(complaints).toEqual([])
})
