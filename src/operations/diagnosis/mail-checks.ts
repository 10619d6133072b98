import { listOverrides, overrideFolder } from '../../shop/mailer/overrides.ts'
import { ok, warning } from './check.ts'
import type { Check } from './check.ts'

/** The operator's templates of emails. */
export const mailChecks: readonly Check[] = [
  {
    name: 'email templates',
    run({ config }) {
      const files = listOverrides(config.dataDir)
      const broken = files.flatMap(({ name, problem }) => (problem === null ? [] : `${name} ${problem}`))
      if (broken.length === 0)
        return ok(
          files.length === 0 ? 'All emails are those of Shopstead.' : `${files.length} files replace parts of emails.`
        )
      return warning(
        `Not used, so the shop sends its own text: ${broken.join('; ')}.`,
        `Correct it in ${overrideFolder(config.dataDir)}. "shopstead mail preview NAME" shows the result.`
      )
    }
  }
]
