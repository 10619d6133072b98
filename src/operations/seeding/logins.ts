import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { packageRoot } from '../../platform/package-root.ts'
import { findUserByEmail } from '../../shop/accounts/find.ts'
import type { UserRow } from '../../shop/accounts/rows.ts'
import { findAffiliateOfUser } from '../../shop/affiliates/find.ts'

/** The password of every person in the demo shop (docs/contract.md A9). */
export const demoPassword = 'harbour-lantern-42'

export type DemoLogin = {
  email: string
  password: string
  role: 'administrator' | 'affiliate' | 'customer'
  affiliateCode: string | null
}

const people = z.array(z.object({ email: z.string() }))

/** The demo shop's accounts that exist in this database and can log in, the administrator first. */
export function demoLogins(db: Db): DemoLogin[] {
  const listed = people.parse(JSON.parse(readFileSync(join(packageRoot, 'seeds', 'demo', 'people.json'), 'utf8')))
  return listed.flatMap(({ email }) => {
    const user = findUserByEmail(db, email)
    return user === undefined || user.status !== 'active' || user.verificationPending ? [] : [toLogin(db, user)]
  })
}

function toLogin(db: Db, user: UserRow): DemoLogin {
  const affiliate = findAffiliateOfUser(db, user.id)
  return {
    email: user.email,
    password: demoPassword,
    role: user.isAdmin ? 'administrator' : affiliate === undefined ? 'customer' : 'affiliate',
    affiliateCode: affiliate?.code ?? null
  }
}
