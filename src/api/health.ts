import { AppError } from '../errors.ts'
import { onceFor } from '../platform/once-for.ts'
import { buildFlavor, buildId, packageVersion } from '../platform/package-root.ts'
import type { ShopContext } from '../shop/context.ts'
import { modulesOf } from '../shop/settings/settings.ts'
import { byName, healthModules } from '../shop/settings/modules.ts'
import type { Modules } from '../shop/settings/modules.ts'
import { healthData } from './answers/service.ts'
import { route } from './route.ts'

const fingerprint = {
  version: packageVersion(),
  buildId: buildId(),
  buildFlavor,
  nonceBootstrapStrategy: 'stateless-hmac'
}

export const healthRoutes = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Service status',
    answers: [{ data: healthData }],
    refuses: ['METHOD_NOT_ALLOWED', 'DEPENDENCY_UNAVAILABLE'],
    session: 'none',
    nonce: 'never',
    proxy: { nonce: false, query: [] },
    invalid: 400,
    handler: ({ shop }) => ({ data: healthOf(shop)(modulesNow(shop)), isKept: true })
  })
]

/** The same until an operator switches a module. */
const healthOf = onceFor(({ config }: ShopContext) =>
  onceFor((isOn: Modules) => {
    return {
      status: 'ok',
      version: fingerprint.version,
      env: config.env,
      wpVersion: 'n/a',
      phpVersion: 'n/a',
      dependencies: byName(healthModules, (name) => (isOn(name) ? 'active' : 'missing')),
      buildId: fingerprint.buildId,
      buildFlavor: fingerprint.buildFlavor,
      nonceBootstrapStrategy: fingerprint.nonceBootstrapStrategy
    }
  })
)

/** Reading the modules asks the database, so it tells whether that answers too. */
function modulesNow({ db }: ShopContext): Modules {
  try {
    return modulesOf(db)
  } catch (cause) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.', {}, { cause })
  }
}
