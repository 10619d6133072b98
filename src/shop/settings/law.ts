import type { Db } from '../../platform/db/database.ts'
import { isInEu } from '../../platform/vat.ts'
import { setting } from './settings.ts'

/** Whether the pages follow the EU law of selling to consumers (directive 2011/83/EU), by the setting law.eu. */
export function followsEuLaw(db: Db): boolean {
  const choice = setting(db, 'law.eu')
  return choice === 'auto' ? isInEu(setting(db, 'shop.country')) : choice === 'on'
}
