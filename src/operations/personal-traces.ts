import Database from 'better-sqlite3'
import type { Db } from '../platform/db/database.ts'
import { personalFields } from '../platform/db/personal.ts'
import { otherEmailsOf } from '../shop/accounts/messages.ts'
import type { UserRow } from '../shop/accounts/rows.ts'
import { ofPerson } from '../shop/orders/find.ts'
import type { Person } from '../shop/orders/find.ts'
import { users } from '../shop/accounts/schema.ts'
import { orders } from '../shop/orders/schema.ts'

/** The personal texts of a person's account and orders: emails, names, phone numbers, lines of addresses. */
export function personalTexts(db: Db, user: UserRow): string[] {
  const { earlier, requested } = otherEmailsOf(db, user.id)
  return textsOf([...earlier, ...requested, personalFields(users, user), user.emailKey, ...boughtBy(db, user)])
}

/** The personal texts of a guest's orders. */
export function textsOfGuest(db: Db, emailKey: string): string[] {
  return textsOf([emailKey, ...boughtBy(db, { id: null, emailKey })])
}

function boughtBy(db: Db, person: Person): object[] {
  const bought = db.orm.select().from(orders).where(ofPerson(person)).all()
  return bought.map((row) => personalFields(orders, row))
}

function textsOf(stored: readonly unknown[]): string[] {
  const texts = stored.flatMap(textsIn)
  return [...new Set(texts.filter((text): text is string => typeof text === 'string' && text !== ''))]
}

function textsIn(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [value]
}

/** Whether a backup has an account that is not erased in it. A file that cannot be read counts as one that has it. */
export function holdsAccount(backup: string, userId: number): boolean {
  return finds(backup, "SELECT 1 FROM users WHERE id = ? AND status <> 'erased'", userId)
}

/** Whether a backup has an order of a guest in it. A file that cannot be read counts as one that has it. */
export function holdsGuest(backup: string, emailKey: string): boolean {
  return finds(backup, 'SELECT 1 FROM orders WHERE email_key = ? AND user_id IS NULL', emailKey)
}

function finds(backup: string, query: string, value: number | string): boolean {
  try {
    const sqlite = new Database(backup, { readonly: true, fileMustExist: true })
    try {
      return sqlite.prepare(query).get(value) !== undefined
    } finally {
      sqlite.close()
    }
  } catch {
    return true
  }
}
