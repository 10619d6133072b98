import { AppError } from '../errors.ts'
import type { Db } from '../platform/db/database.ts'
import { buildFlavor, buildId, packageVersion } from '../platform/package-root.ts'
import type { ShopContext } from '../shop/context.ts'
import { isModuleOn } from '../shop/settings/settings.ts'
import { byName, healthModules } from '../shop/settings/modules.ts'
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
    handler: ({ shop }) => ({ data: healthOf(shop) })
  })
]

function healthOf({ config, db }: ShopContext) {
  return {
    status: 'ok',
    version: fingerprint.version,
    env: config.env,
    wpVersion: 'n/a',
    phpVersion: 'n/a',
    dependencies: dependencies(db),
    buildId: fingerprint.buildId,
    buildFlavor: fingerprint.buildFlavor,
    nonceBootstrapStrategy: fingerprint.nonceBootstrapStrategy
  }
}

/** Reading the modules queries the database, so this also checks that the database answers. */
function dependencies(db: Db) {
  try {
    return byName(healthModules, (name) => (isModuleOn(db, name) ? 'active' : 'missing'))
  } catch (cause) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.', {}, { cause })
  }
}
