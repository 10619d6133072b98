import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { demoShop } from '../support/demo-shop.ts'

const run = async (dataDir: string, ...args: string[]) => {
  const { code, stdout, stderr } = await shopstead(dataDir, args)
  return { code, text: stdout + stderr }
}

it('makes a group with members and a price list, and shows all of it', async () => {
  const dataDir = demoShop()
  const create = ['groups', 'create', 'trade', '--name', 'Trade', '--percent', '30', '--tax', 'without']
  const created = await shopstead(dataDir, [...create, '--membership', 'keepers-circle', '--json'])
  expect(created.json).toMatchObject({
    group: { slug: 'trade', name: 'Trade', percent: 30, tax: 'without', membership: 'keepers-circle', members: 0 }
  })
  expect(await run(dataDir, 'groups', 'add', 'trade', 'lena@shop.example', '3')).toMatchObject({ code: 0 })
  expect(await run(dataDir, 'groups', 'price', 'trade', 'storm-lantern', '31.50')).toMatchObject({ code: 0 })
  expect((await run(dataDir, 'groups', 'show', 'trade')).text).toMatch(
    /trade \(Trade\): 30 % off the regular prices, 1 on the price list, prices shown without tax\nMembers: 2, and the accounts with the membership keepers-circle\n/
  )
  expect((await run(dataDir, 'groups', 'show', 'trade')).text).toContain('lena@shop.example')
  expect((await run(dataDir, 'users', 'show', 'lena@shop.example')).text).toContain('Groups: trade')
  const file = join(dataDir, 'prices.csv')
  await run(dataDir, 'groups', 'prices', 'trade', '--csv', file)
  expect(readFileSync(file, 'utf8')).toMatch(
    /^\ufeffslug,sku,name,price,regular,currency\r?\nstorm-lantern,,Harbour storm lantern,31\.5,48,EUR/
  )
  expect(await run(dataDir, 'groups', 'import-prices', 'trade', file)).toMatchObject({ code: 0 })
  expect(
    await run(dataDir, 'groups', 'set', 'trade', '--no-percent', '--no-membership', '--tax', 'shop')
  ).toMatchObject({
    code: 0,
    text: expect.stringContaining('trade (Trade): regular prices, 1 on the price list, prices shown as to everyone')
  })
  expect(await run(dataDir, 'groups', 'remove', 'trade', 'lena@shop.example')).toMatchObject({ code: 0 })
  expect(await run(dataDir, 'groups', 'delete', 'trade', '--yes')).toMatchObject({ code: 0 })
  expect((await run(dataDir, 'groups', 'list')).text).not.toContain('trade')
})

it('gets members by the import of customers, who are left out with a group that is not there', async () => {
  const dataDir = demoShop()
  const file = join(dataDir, 'customers.csv')
  writeFileSync(
    file,
    'email,groups\nanna@firm.example,wholesale\nben@firm.example,"wholesale,nope"\nlena@shop.example,wholesale\n'
  )
  const imported = await run(dataDir, 'users', 'import', file)
  expect(imported.text).toMatch(
    /1 × The shop has no customer group nope: create it, and import again \(ben@firm.example/
  )
  const members = async () => (await run(dataDir, 'groups', 'show', 'wholesale')).text
  expect(await members()).toMatch(/lena@shop.example[\s\S]*anna@firm.example/)
  await run(dataDir, 'groups', 'create', 'nope')
  await run(dataDir, 'groups', 'remove', 'wholesale', 'lena@shop.example')
  await run(dataDir, 'users', 'import', file)
  expect(await members()).toContain('ben@firm.example')
  expect(await members()).not.toContain('lena@shop.example')
})

it('refuses what is wrong with one clear line, and changes nothing', async () => {
  const dataDir = demoShop()
  await run(dataDir, 'groups', 'create', 'trade', '--percent', '30')
  const sqlite = new Database(join(dataDir, 'shopstead.db'))
  sqlite.exec("UPDATE users SET email_verified_at = NULL WHERE email = 'mira@shop.example'")
  sqlite.close()
  const refused = async (line: string | RegExp, ...args: string[]) => {
    const { code, text } = await run(dataDir, 'groups', ...args)
    expect(text).toMatch(line)
    expect(code).not.toBe(0)
  }
  await refused(/there is a customer group trade already/i, 'create', 'trade')
  await refused(/percent.*Must be above 0 and at most 100/, 'create', 'other', '--percent', '0')
  await refused(/percent.*Must be above 0 and at most 100/, 'set', 'trade', '--percent', '100.5')
  await refused(/percent/, 'set', 'trade', '--percent', 'half')
  await refused(/--tax/, 'set', 'trade', '--tax', 'maybe')
  await refused(/The plan "nope" does not exist/, 'set', 'trade', '--membership', 'nope')
  await refused(/No customer group is called trad\. There are: trade, wholesale\./, 'add', 'trad', '12')
  await refused(/nobody@shop.example: there is no account/, 'add', 'trade', '12', 'nobody@shop.example')
  await refused(/12: this account is named twice/, 'add', 'trade', 'lena@shop.example', '12')
  await refused(/the email is not verified.*name the account by its id/, 'add', 'trade', 'mira@shop.example')
  expect((await shopstead(dataDir, ['groups', 'show', 'trade', '--json'])).json).toMatchObject({ members: [] })
  await run(dataDir, 'groups', 'add', 'trade', '12')
  await refused(/in the group trade already/, 'add', 'trade', 'lena@shop.example')
  await refused(/is not in the group trade/, 'remove', 'trade', '3')
  await refused(/Must be in EUR, the currency of the shop, not in USD/, 'price', 'trade', 'storm-lantern', '9.90 USD')
  await refused(/price.*amount/i, 'price', 'trade', 'storm-lantern', '-3')
  await refused(/No product has the slug nope/, 'price', 'trade', 'nope', '9')
  await refused(/no variation with the SKU X/, 'price', 'trade', 'storm-lantern/X', '9')
  await refused(/Pass the price, or --none/, 'price', 'trade', 'storm-lantern')
  const file = join(dataDir, 'prices.csv')
  const lines = [
    'slug;price;currency',
    'storm-lantern;31,50;EUR',
    'nope;3;EUR',
    'storm-lantern;30;',
    'tealight-lantern;3;CHF'
  ]
  writeFileSync(file, lines.join('\n'))
  await refused(/Line 3.*slug.*nope/s, 'import-prices', 'trade', file)
  await refused(/Line 4.*line 2, too/s, 'import-prices', 'trade', file)
  await refused(/Line 5.*not in CHF/s, 'import-prices', 'trade', file)
  writeFileSync(file, 'sku,amount\n1,2\n')
  await refused(/needs the columns slug and price, and has sku, amount/, 'import-prices', 'trade', file)
  expect((await shopstead(dataDir, ['groups', 'prices', 'trade', '--json'])).json).toEqual({
    prices: [],
    currency: 'EUR'
  })
})
