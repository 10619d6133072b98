import { describe, expect, it } from 'vitest'
import { erasePerson, eraseGuest } from '../../../src/shop/customers/erase-person.ts'
import { exportGuest, exportPerson } from '../../../src/shop/customers/export-person.ts'
import { addNote, listNotes, noteInput, removeNote } from '../../../src/shop/customers/notes.ts'
import { getUserById } from '../../../src/shop/accounts/find.ts'
import { showOrder } from '../../../src/shop/customers/admin-orders.ts'
import { emptyShop, noon } from '../../support/temporary-shop.ts'
import type { TestDb } from '../../support/temporary-shop.ts'
import { draft, line, makeProduct, makeUser, place } from '../orders/support.ts'

const order = (db: TestDb, changes: Parameters<typeof draft>[1] = {}): number =>
  place(db, draft([line(makeProduct(db))], changes)).id
const textsOf = (db: TestDb, about: Parameters<typeof listNotes>[1]) => listNotes(db, about).map(({ text }) => text)

describe('a note', () => {
  it('about an order stands with it in the order it was written, until it is removed', () => {
    const db = emptyShop()
    const [orderId, other] = [order(db), order(db)]
    addNote(db, { orderId }, 'Calls first', 'operator', noon)
    addNote(db, { orderId }, 'Wants the blue one', 'desk:1', noon + 1)
    addNote(db, { orderId: other }, 'Another order', 'operator', noon)
    expect(showOrder(db, orderId).order.shopNotes).toMatchObject([
      { id: 1, by: 'operator', text: 'Calls first' },
      { id: 2, by: 'desk:1', text: 'Wants the blue one' }
    ])
    expect(() => removeNote(db, { orderId }, 3)).toThrow('There is no note 3.')
    removeNote(db, { orderId }, 1)
    expect([textsOf(db, { orderId }), textsOf(db, { orderId: other })]).toEqual([
      ['Wants the blue one'],
      ['Another order']
    ])
  })

  it('about an account and its orders is in the export, and an erasure deletes it', () => {
    const db = emptyShop()
    const { id: userId } = makeUser(db, 'lena@shop.example')
    const { id: stays } = makeUser(db, 'mira@shop.example')
    const orderId = order(db, { userId })
    addNote(db, { userId }, 'Calls in the evening', 'operator', noon)
    addNote(db, { userId: stays }, 'Stays', 'operator', noon)
    addNote(db, { orderId }, 'Second doorbell', 'operator', noon)
    const exported = JSON.stringify(exportPerson(db, getUserById(db, userId), noon))
    expect(['Calls in the evening', 'Second doorbell'].filter((text) => !exported.includes(text))).toEqual([])
    erasePerson(db, userId, noon)
    expect([textsOf(db, { userId }), textsOf(db, { orderId }), textsOf(db, { userId: stays })]).toEqual([
      [],
      [],
      ['Stays']
    ])
  })

  it("about a guest's order is in the export of the guest, and an erasure deletes it", () => {
    const db = emptyShop()
    const orderId = order(db, { email: 'guest@shop.example' })
    addNote(db, { orderId }, 'Second doorbell', 'operator', noon)
    expect(JSON.stringify(exportGuest(db, 'guest@shop.example', noon))).toContain('Second doorbell')
    eraseGuest(db, 'guest@shop.example')
    expect(textsOf(db, { orderId })).toEqual([])
  })

  it.each([
    ['', false],
    [' \n ', false],
    ['a'.repeat(1001), false],
    ['bell\u0007', false],
    ['two\r\nlines', true],
    ['🌊'.repeat(1000), true]
  ])('takes 1 to 1000 characters without control characters: %j', (text, isFine) => {
    expect(noteInput.safeParse({ text }).success).toBe(isFine)
  })
})
