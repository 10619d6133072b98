import { listModules, setting } from '../../shop/settings/settings.ts'
import { ok, warning } from './check.ts'
import type { Check } from './check.ts'

/** What the operator has set, and had better know of. */
export const settingChecks: readonly Check[] = [
  {
    name: 'modules',
    run({ db }) {
      const off = listModules(db).filter((module) => !module.enabled)
      if (off.some(({ name }) => name === 'commerce'))
        return warning('commerce is off: nothing is sold.', 'Run "shopstead modules enable commerce".')
      return ok(off.length === 0 ? 'All on.' : `Off: ${off.map((module) => module.name).join(', ')}.`)
    }
  },
  {
    name: 'passwords',
    run({ db }) {
      const length = setting(db, 'registration.passwordMinLength')
      if (length >= 15) return ok(`At least ${length} characters.`)
      return warning(
        `At least ${length} characters.`,
        'NIST SP 800-63B asks for 15 without a second factor: "shopstead settings set registration.passwordMinLength 15".'
      )
    }
  }
]
