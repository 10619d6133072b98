import { validationFailed } from '../../errors.ts'
import { toCsv } from '../../platform/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { toIsoOrNull } from '../../platform/iso-time.ts'
import { toDecimalText } from '../../platform/money.ts'
import { compareKey } from '../../platform/text.ts'
import { getUserById } from '../accounts/find.ts'
import { getAffiliateById } from '../affiliates/find.ts'
import type { PayoutRow } from '../referrals/store.ts'
import { decodeText, readTable } from '../catalog/import/csv-table.ts'
import type { PayoutPlan } from './plan.ts'

/** To whom a bank pays, by the affiliate's code. The shop stores none of it. */
export type Payees = ReadonlyMap<string, { holder: string; iban: string }>

/**
 * Payouts, paid or planned, as CSV for a bank or an accountant, one row each. Amounts are in major units.
 *
 * @param payees adds the holder and the IBAN of each account
 * @throws AppError VALIDATION_FAILED (`payees`) for an affiliate without a payee
 */
export function payoutsCsv(
  db: Db,
  payouts: readonly { plan: PayoutPlan; payout: PayoutRow | null }[],
  payees?: Payees
): string {
  const bank = payees === undefined ? [] : ['holder', 'iban']
  const columns = [
    'payout',
    'affiliate',
    'name',
    'email',
    'amount',
    'currency',
    'referrals',
    'reference',
    'created_at',
    ...bank
  ]
  const rows = payouts.map(({ payout, plan }) => {
    const { code, userId } = getAffiliateById(db, plan.affiliateId)
    const { displayName, email } = getUserById(db, userId)
    const amount = toDecimalText(plan.amountMinor, plan.currency)
    const referrals = plan.lines.filter((line) => line.status === 'unpaid').length
    const payment = [payout?.reference ?? null, toIsoOrNull(payout?.createdAt)]
    const payee = payees?.get(compareKey(code))
    if (payees !== undefined && payee === undefined)
      throw validationFailed({ payees: [`Has no line for the affiliate ${code}.`] })
    const account = payee === undefined ? [] : [payee.holder, payee.iban]
    return [payout?.id ?? null, code, displayName, email, amount, plan.currency, referrals, ...payment, ...account]
  })
  return toCsv(columns, rows)
}

/**
 * Reads to whom a bank pays: a CSV with the columns `code`, `holder` and `iban`, a row for each affiliate. The shop does not
 * store it: a backup contains the secret key, so encryption with it would not protect the accounts of a stolen backup.
 *
 * @throws AppError VALIDATION_FAILED (`payees`) with the line and what is wrong
 */
export function readPayees(bytes: Uint8Array): Payees {
  const { rows } = readTable(decodeText(bytes).text)
  const payees = new Map<string, { holder: string; iban: string }>()
  for (const [index, row] of rows.entries()) {
    const [code, holder, iban] = [row.cell('code'), row.cell('holder'), row.cell('iban')]
    const refuse = (rule: string): Error => validationFailed({ payees: [`Row ${index + 1} ${rule}.`] })
    const key = compareKey(code)
    if (key === '') throw refuse('has no code')
    if (payees.has(key)) throw refuse(`names ${code} again`)
    if (holder.trim() === '' || holder.length > 70) throw refuse('needs a holder of 1 to 70 characters')
    if (!isIban(iban)) throw refuse(`has an IBAN that is not valid`)
    payees.set(key, { holder: holder.trim(), iban: plainIban(iban) })
  }
  return payees
}

function plainIban(text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase()
}

/** Whether the letters and digits have the form and the check digits of an IBAN (ISO 13616, ISO 7064 MOD 97-10). */
export function isIban(text: string): boolean {
  const iban = plainIban(text)
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return false
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55)
  )
  return BigInt(digits) % 97n === 1n
}
