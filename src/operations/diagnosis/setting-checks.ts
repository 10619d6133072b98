import { hasInvoices } from '../../shop/invoices/find.ts'
import { listModules, setting } from '../../shop/settings/settings.ts'
import { ok, warning } from './check.ts'
import type { Check } from './check.ts'

/** Settings whose effect an operator may not expect. */
export const settingChecks: readonly Check[] = [
  {
    name: 'modules',
    run({ db }) {
      const off = listModules(db).filter((module) => !module.enabled)
      if (off.some(({ name }) => name === 'commerce'))
        return warning(
          'The commerce module is off: the shop sells nothing.',
          'Run "shopstead modules enable commerce" to sell again.'
        )
      return ok(off.length === 0 ? 'All modules are on.' : `Off: ${off.map((module) => module.name).join(', ')}.`)
    }
  },
  {
    name: 'invoices',
    run({ db }) {
      if (setting(db, 'shop.legal') !== '' || !hasInvoices(db)) return ok('Invoices name the seller.')
      return warning(
        'Invoices have no address of the seller, because shop.legal is empty. The law requires one.',
        'Set it: "shopstead settings set shop.legal TEXT". Invoices that are issued stay as they are.'
      )
    }
  },
  {
    name: 'passwords',
    run({ db }) {
      const length = setting(db, 'registration.passwordMinLength')
      if (length >= 15) return ok(`At least ${length} characters.`)
      return warning(
        `At least ${length} characters.`,
        'NIST SP 800-63B requires 15 without a second factor: "shopstead settings set registration.passwordMinLength 15".'
      )
    }
  }
]
