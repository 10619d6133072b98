import Database from 'better-sqlite3'
import type { Db } from '../platform/db/database.ts'
import { personalFields } from '../platform/db/personal.ts'
import { otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { ofPerson } from '../shop/orders/find.ts'
import { users } from '../shop/accounts/schema.ts'
import { orders } from '../shop/orders/schema.ts'

/** The personal texts of a person's account and orders: emails, names, phone numbers, lines of addresses. */
export function personalTexts(db: Db, user: UserRow): string[] {
  const bought = db.orm.select().from(orders).where(ofPerson(user)).all()
  const { earlier, requested } = otherEmailsOf(db, user.id)
  const stored = [personalFields(users, user), user.emailKey, ...bought.map((row) => personalFields(orders, row))]
  const texts = [...earlier, ...requested, ...stored].flatMap(textsIn)
  return [...new Set(texts.filter((text): text is string => typeof text === 'string' && text !== ''))]
}

function textsIn(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [value]
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
