import { closeSync, openSync, readSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Db } from '../platform/db/database.ts'
import { personalFields } from '../platform/db/personal.ts'
import { otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { ofPerson } from '../shop/orders/find.ts'
import { users } from '../shop/accounts/schema.ts'
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
  const bought = db.orm.select().from(orders).where(ofPerson(user)).all()
  const { earlier, requested } = otherEmailsOf(db, user.id)
  const stored = [personalFields(users, user), user.emailKey, ...bought.map((row) => personalFields(orders, row))]
  const found = new Set(
    [...earlier, ...requested, ...stored].flatMap(textsIn).filter((text) => typeof text === 'string')
  )
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
