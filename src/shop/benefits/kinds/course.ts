import { eq } from 'drizzle-orm'
import { toIso } from '../../../platform/iso-time.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { grantSchemas } from '../../catalog/grants.ts'
import type { GrantSpec } from '../../catalog/grants.ts'
import { enrolmentsOf } from '../records.ts'
import { enrolments } from '../schema.ts'
import { givenByHand } from './kind.ts'
import type { BenefitKind, Recipient } from './kind.ts'

export const course: BenefitKind<'course'> = {
  plural: 'courses',
  table: enrolments,
  since: 'started_at',
  sharesTotal: false,
  guests: 'need an account',
  start,
  end(tx, id, line, now) {
    const row = tx.orm.select().from(enrolments).where(eq(enrolments.id, id)).get()
    if (row === undefined) return null
    const set = { revokedAt: row.revokedAt ?? now, ...line }
    tx.orm.update(enrolments).set(set).where(eq(enrolments.id, id)).run()
    return row.revokedAt === null ? { gatewayId: null } : null
  },
  list: (db, userId) =>
    enrolmentsOf(db, userId).map(({ startedAt, ...row }) => {
      const line = { id: row.id, what: row.course, state: 'enrolled', until: null, orderId: row.orderId }
      return { view: { ...row, startedAt: toIso(startedAt) }, line, module: 'courses' }
    }),
  words: () => 'A place on the course',
  renewal: null,
  byHand: givenByHand({
    input: () => grantSchemas.course,
    options: { course: { value: '<name>', about: 'name of the course' } },
    give: start
  })
}

function start(
  tx: Tx,
  { userId, source }: Pick<Recipient, 'userId' | 'source'>,
  spec: Pick<GrantSpec<'course'>, 'course'>,
  now: number
): number {
  const values = { userId, course: spec.course, startedAt: now, ...source }
  return tx.orm.insert(enrolments).values(values).returning({ id: enrolments.id }).get().id
}
