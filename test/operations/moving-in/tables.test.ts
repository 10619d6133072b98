import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { MoveReport } from '../../../src/operations/moving-in/move-in.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { findUserByEmail } from '../../../src/shop/accounts/find.ts'
import { findAffiliateByCode } from '../../../src/shop/affiliates/find.ts'
import { findCoupon } from '../../../src/shop/catalog/coupons.ts'
import { getOrder, itemsOf } from '../../../src/shop/orders/find.ts'
import { balanceOf } from '../../../src/shop/referrals/ledger.ts'
import { shopstead } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { Random } from '../../torture/random.ts'
import { oddValues } from './odd-values.ts'
import { shopifyCsv } from './shopify-export.ts'

async function newShop() {
  const folder = temporaryFolder()
  await shopstead(folder, ['init'])
  const file = join(folder, 'table.csv')
  const attempt = (group: string, content: string | Uint8Array, ...flags: string[]) => {
    writeFileSync(file, content)
    return shopstead<MoveReport & { error: { message: string } }>(folder, [group, 'import', file, '--json', ...flags])
  }
  const run = async (group: string, content: string | Uint8Array, ...flags: string[]) => {
    const { code, json, stderr } = await attempt(group, content, ...flags)
    expect({ code, stderr, error: json.error }).toMatchObject({ code: 0 })
    return json.subjects
  }
  const open = () => openDatabase(join(folder, 'shopstead.db'), { readonly: true })
  return { attempt, run, open }
}

it('accounts, orders, coupons and affiliates of any shop move in from tables with named columns', async () => {
  const { run, open } = await newShop()
  const people =
    'E-Mail-Adresse;Vorname;Nachname;Straße;Ort;PLZ;Land;Newsletter\nada@example.com;Ada;Möller;Am Kai 3;Köln;01067;de;ja\n'
  const names = [
    'E-Mail-Adresse=email',
    'Vorname=firstName',
    'Nachname=lastName',
    'Straße=address1',
    'Ort=city',
    'PLZ=postcode',
    'Land=country',
    'Newsletter=marketing'
  ]
  const map = names.flatMap((name) => ['--map', name])
  expect(await run('users', Buffer.from(people, 'latin1'), ...map, '--dry-run')).toMatchObject([
    { found: 1, arrived: 1 }
  ])
  expect(await run('users', Buffer.from(people, 'latin1'), ...map)).toMatchObject([{ found: 1, arrived: 1 }])
  const orders =
    'number,email,status,currency,total,tax,shipping,createdAt,lineName,quantity,price,refunded\r\n77,ada@example.com,completed,EUR,25.00,3.99,5,2025-04-01 10:00,Mug,2,"10,00",\r\n77,,,,,,,,,,,\r\n78,else@example.com,processing,EUR,9.99,,,2025-05-01,Print,1,9.99,4.99\r\n'
  expect(await run('orders', orders)).toMatchObject([{ found: 2, arrived: 2, left: 0 }])
  expect(
    await run('coupons', 'code,percent,maxUses,used,endsAt\nSPRING,12.5,100,40,2027-01-01\nBIG,120,,,\n')
  ).toMatchObject([
    {
      found: 2,
      arrived: 1,
      left: 1,
      leftOut: [{ why: 'percent must be a percentage from 0 to 100', examples: ['line 3'] }]
    }
  ])
  const partners =
    'email,code,rate,owed,paid,clicks,number\nada@example.com,ada-blog,15,12.34,100,321,9\nwho@example.com,who,,1,,,\n'
  const [affiliates, commissions, payouts] = await run('affiliates', partners)
  expect(affiliates).toMatchObject({
    found: 2,
    arrived: 1,
    leftOut: [{ why: 'The account of the affiliate did not arrive' }]
  })
  expect(commissions).toMatchObject({ arrived: 2, left: 1 })
  expect(payouts).toMatchObject({ found: 1, arrived: 1 })
  const db = open()
  const user = findUserByEmail(db, 'ada@example.com')
  expect(user).toMatchObject({
    displayName: 'Ada Möller',
    address: { address1: 'Am Kai 3', city: 'Köln', postcode: '01067', country: 'DE' }
  })
  expect(getOrder(db, 77)).toMatchObject({
    userId: user?.id,
    totalMinor: 2500,
    shippingMinor: 500,
    status: 'completed',
    paidAt: Date.parse('2025-04-01T10:00Z')
  })
  expect(itemsOf(db, 77)).toMatchObject([{ name: 'Mug', quantity: 2, unitPriceMinor: 1000 }])
  expect(getOrder(db, 78)).toMatchObject({ userId: null, refundedMinor: 499 })
  expect(findCoupon(db, 'spring')).toMatchObject({ percentBps: 1250, maxUses: 100, used: 40 })
  const affiliate = findAffiliateByCode(db, 'ada-blog')
  expect(affiliate).toMatchObject({ id: 9, status: 'active' })
  expect(balanceOf(db, 9)).toMatchObject({ unpaidMinor: 1234, paidMinor: 10_000 })
  db.sqlite.close()
  expect(await run('orders', orders)).toMatchObject([{ arrived: 0, already: 2, changed: [] }])
  // Another shop has an order with the same number.
  expect(await run('orders', orders, '--shop', 'second shop')).toMatchObject([{ arrived: 2 }])
})

it('an amount keeps the decimals that its currency has in the shop, and more are rounded half up', async () => {
  const { run, open } = await newShop()
  const head = 'number,status,currency,total,createdAt\n'
  const orders = `${head}1,completed,HUF,1234.50,2025-04-01\n2,completed,EUR,1.005,2025-04-01\n3,completed,JPY,500.00,2025-04-01\n`
  expect(await run('orders', orders)).toMatchObject([{ arrived: 3 }])
  const db = open()
  expect([1, 2, 3].map((id) => getOrder(db, id).totalMinor)).toEqual([123_450, 101, 500])
  db.sqlite.close()
})

it('a file in UTF-16 without a byte order mark is read, and one that is partly UTF-8 is refused with the line', async () => {
  const { run, attempt, open } = await newShop()
  const people = 'email,firstName\nada@example.com,Möller\n'
  expect(await run('users', Buffer.from(people, 'utf16le'))).toMatchObject([{ found: 1, arrived: 1 }])
  const mixed = Buffer.concat([Buffer.from(`${people}bo@example.com,`), Buffer.from('K\xe4the\n', 'latin1')])
  const { code, json } = await attempt('users', mixed)
  expect({ code, message: json.error.message }).toEqual({
    code: 1,
    message: 'table.csv: Line 3: The file is not UTF-8 text. Save it with the encoding UTF-8.'
  })
  const db = open()
  expect(findUserByEmail(db, 'ada@example.com')?.firstName).toBe('Möller')
  db.sqlite.close()
})

it('two coupons whose codes are the same in the first 64 characters arrive as one', async () => {
  const { run } = await newShop()
  const code = 'SPRING'.padEnd(64, 'X')
  expect(await run('coupons', `code,percent\n${code}1,10\n${code}2,20\n`)).toMatchObject([
    { found: 2, arrived: 1, already: 1 }
  ])
})

it('an order goes only to an account whose person is known', async () => {
  const { run, open } = await newShop()
  const orders = 'number,email,status,total,createdAt\n1,bo@example.com,completed,5,2025-04-01\n'
  await run('users', 'email\nbo@example.com\n')
  const db = openDatabaseOf(open)
  // Somebody registered here with the email, and has not shown that it is theirs.
  db.prepare("UPDATE users SET password_hash = '$argon2id$x', email_verified_at = NULL").run()
  db.prepare('DELETE FROM moved_rows').run()
  db.close()
  expect(await run('users', 'email\nbo@example.com\n')).toMatchObject([
    { left: 1, leftOut: [{ why: expect.stringContaining('not verified') }] }
  ])
  await run('orders', orders)
  const after = open()
  expect(getOrder(after, 1).userId).toBeNull()
  after.sqlite.close()
})

function openDatabaseOf(open: () => ReturnType<typeof openDatabase>) {
  const read = open()
  const { name } = read.sqlite
  read.sqlite.close()
  return openDatabase(name).sqlite
}

it('a column that is missing or mapped to no field is refused with the names that exist', async () => {
  const { attempt } = await newShop()
  const said = async (...args: Parameters<typeof attempt>) => {
    const { code, json } = await attempt(...args)
    expect(code).not.toBe(0)
    return json.error.message
  }
  expect(await said('users', 'mail\nx\n')).toContain('--map "COLUMN=email"')
  expect(await said('users', 'mail\nx\n', '--map', 'post=email')).toContain('Its columns are mail')
  expect(await said('users', 'mail\nx\n', '--map', 'mail=shoes')).toContain('Fields are email')
  expect(await said('orders', '{"orders": []}')).toContain('wp db export shop.sql')
})

it('broken cells leave out their row with a clear line, and nothing else', { timeout: 120_000 }, async () => {
  const { attempt, open } = await newShop()
  const random = new Random(48)
  const sources: [string, string][] = [
    ['users', shopifyCsv.customers()],
    ['orders', shopifyCsv.orders()],
    ['coupons', shopifyCsv.discounts()],
    [
      'affiliates',
      'email,code,rate,status,owed,paid,clicks,registeredAt\nada@example.com,a,10,active,1.00,2.00,3,2025-01-01\nbo@example.com,b,,pending,,,,\n'
    ]
  ]
  for (let round = 0; round < 60; round += 1) {
    const [group = '', text = ''] = sources[round % sources.length] ?? []
    const rows = text.split('\n').map((line) => line.split(','))
    for (let change = 0; change < 4; change += 1) {
      const row = random.pick(rows.slice(1))
      row[random.between(0, row.length)] = random.pick(oddValues)
    }
    const { code, json, stderr } = await attempt(
      group,
      rows.map((cells) => cells.join(',')).join('\n'),
      '--shop',
      `round ${round}`
    )
    if (code === 0)
      for (const { found, arrived, already, left } of json.subjects) expect(found).toBe(arrived + already + left)
    else
      expect({ code, message: json.error.message, stderr }).toMatchObject({
        code: 1,
        message: expect.stringMatching(/Line \d+|no column/)
      })
  }
  const db = open()
  expect(db.sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.sqlite.pragma('foreign_key_check')).toEqual([])
  db.sqlite.close()
})
