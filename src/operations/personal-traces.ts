import { closeSync, openSync, readSync } from 'node:fs'
import Database from 'better-sqlite3'
import { eq, or } from 'drizzle-orm'
import type { Db } from '../platform/db/database.ts'
import { otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { placedAsGuest } from '../shop/orders/find.ts'
import { documentsOfPerson } from '../shop/orders/invoice-order.ts'
import { orders } from '../shop/orders/schema.ts'

/** Shorter texts, such as a first name or a country, are in the rows of other people too. */
const distinctiveBytes = 8
const chunkBytes = 4 * 1024 * 1024

/**
 * What identifies a person in their account and orders: emails, full names, phone numbers, lines of addresses. What
 * their invoices say is left out, because the invoices stay.
 */
export function personalTexts(db: Db, user: UserRow): string[] {
  const { email, emailKey, username, displayName, firstName, lastName, biography, billingEmail, billingPhone } = user
  const bought = db.orm
    .select({
      email: orders.email,
      contact: orders.contact,
      billingAddress: orders.billingAddress,
      shippingAddress: orders.shippingAddress,
      notes: orders.notes
    })
    .from(orders)
    .where(or(eq(orders.userId, user.id), placedAsGuest(emailKey)))
    .all()
  const own = [email, emailKey, username, displayName, firstName, lastName, biography, billingEmail, billingPhone]
  const { earlier, requested } = otherEmailsOf(db, user.id)
  const others = [...earlier, ...requested, ...textsIn(user.address)]
  const found = new Set([...own, ...others, ...bought.flatMap(textsIn)].filter((text) => typeof text === 'string'))
  const invoiced = documentsOfPerson(db, user)
    .flatMap(({ buyer }) => buyer?.lines ?? [])
    .join('\n')
  return [...found].filter((text) => Buffer.byteLength(text) >= distinctiveBytes && !invoiced.includes(text))
}

function textsIn(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [value]
}

/** Whether a file contains one of the texts. Reads it in pieces and takes no lock. */
export function fileContains(file: string, texts: readonly string[]): boolean {
  const wanted = texts.map((text) => Buffer.from(text))
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1))
  const buffer = Buffer.alloc(chunkBytes + overlap)
  const handle = openSync(file, 'r')
  try {
    for (let position = 0; ; position += chunkBytes) {
      const size = readSync(handle, buffer, 0, buffer.length, position)
      const piece = buffer.subarray(0, size)
      if (wanted.some((bytes) => piece.includes(bytes))) return true
      if (size < buffer.length) return false
    }
  } finally {
    closeSync(handle)
  }
}

/** Whether a backup has an account that is not erased in it. A file that cannot be read counts as one that has it. */
export function holdsAccount(backup: string, userId: number): boolean {
  try {
    const sqlite = new Database(backup, { readonly: true, fileMustExist: true })
    try {
      const status = sqlite.prepare<[number], string>('SELECT status FROM users WHERE id = ?').pluck().get(userId)
      return status !== undefined && status !== 'erased'
    } finally {
      sqlite.close()
    }
  } catch {
    return true
  }
}
