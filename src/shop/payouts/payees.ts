import { validationFailed } from '../../errors.ts'
import { compareKey } from '../../platform/text.ts'
import { decodeText, readTable } from '../catalog/import/csv-table.ts'
import type { Payees } from './payouts.ts'

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
