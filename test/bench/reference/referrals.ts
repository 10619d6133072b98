import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type Database from 'better-sqlite3'
import { answerJson } from './answer.ts'
import type { Handler } from './answer.ts'
import { sessions } from './session.ts'

type Row = {
  id: number
  amountMinor: number
  currency: string
  status: string
  createdAt: number
  review: string | null
  rejectedFor: string | null
}

const limit = 20

/** One page by keyset, with the next cursor sealed like the shop's. */
export function answerReferrals(sqlite: Database.Database): Handler {
  const userOf = sessions(sqlite)
  const key = createSecretKey(randomBytes(32))
  const affiliate = sqlite.prepare<[number], { id: number }>('SELECT id FROM affiliates WHERE user_id = +?')
  const page = sqlite.prepare<[number, number], Row>(
    `SELECT id, amount_minor AS amountMinor, currency, status, created_at AS createdAt, review, rejected_for AS rejectedFor
     FROM referrals
     WHERE affiliate_id = +? AND id < +? ORDER BY id DESC LIMIT ${limit + 1}`
  )
  const seal = (affiliateId: number, lastId: number): string => {
    const id = Buffer.alloc(8)
    id.writeBigUInt64BE(BigInt(lastId))
    const mac = createHmac('sha256', key)
      .update(`referrals:${affiliateId}:${id.toString('hex')}`)
      .digest()
    return Buffer.concat([id, mac.subarray(0, 16)]).toString('base64url')
  }
  return (request, response) => {
    const affiliateId = affiliate.get(userOf(request).id)?.id ?? 0
    const cursor = /cursor=(.*)/.exec(request.url ?? '')?.[1]
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : idIn(cursor)
    const rows = page.all(affiliateId, before)
    const last = rows[limit - 1]
    const nextCursor = rows.length > limit && last !== undefined ? seal(affiliateId, last.id) : null
    const referrals = rows.slice(0, limit).map(({ id, amountMinor, currency, status, createdAt, ...row }) => ({
      id,
      amountMinor,
      currency,
      status,
      createdAtUtc: new Date(createdAt).toISOString(),
      ...reasonOf(status, row)
    }))
    answerJson(response, JSON.stringify({ data: { referrals, nextCursor } }))
  }
}

/** Of the orders of the generated shop. */
function reasonOf(status: string, { review, rejectedFor }: Pick<Row, 'review' | 'rejectedFor'>): { reason?: string } {
  if (status === 'pending' && review !== null) return { reason: 'review' }
  return status === 'rejected' && rejectedFor !== null ? { reason: rejectedFor } : {}
}

function idIn(cursor: string): number {
  return Number(Buffer.from(cursor, 'base64url').readBigUInt64BE())
}
