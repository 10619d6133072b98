import type { Db } from '../../platform/db/database.ts'
import { findPlan } from '../../shop/benefits/plans.ts'
import type { GrantSpec } from '../../shop/catalog/schema.ts'

/** What a product gives beside itself, a line each. */
export function grantWords(db: Db, grants: readonly GrantSpec[]): string[] {
  return grants.map((grant) => wordsOf(db, grant))
}

function wordsOf(db: Db, grant: GrantSpec): string {
  switch (grant.kind) {
    case 'membership':
      return `Membership: ${findPlan(db, grant.plan)?.name ?? grant.plan}, ${periodWords(grant.period)}`
    case 'subscription':
      return `Renews every ${grant.interval} until you cancel`
    case 'course':
      return 'A place on the course'
    case 'download':
      return grant.days === null ? 'A file to download' : `A file to download within ${grant.days} days`
    case 'donation':
      return 'A donation: all of it goes to the cause'
    default:
      return grant satisfies never
  }
}

const units: Readonly<Record<string, string>> = { D: 'day', W: 'week', M: 'month', Y: 'year' }

/** `P1Y` is one year. */
function periodWords(period: string | null): string {
  if (period === null) return 'for life'
  const [, count = '', letter = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? []
  const unit = units[letter]
  if (unit === undefined) return period
  return count === '1' ? `one ${unit}` : `${count} ${unit}s`
}
