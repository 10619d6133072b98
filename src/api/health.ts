import { buildFlavor, buildId, packageVersion } from '../platform/package-root.ts'
import { AppError } from '../errors.ts'
import type { ShopContext } from '../shop/context.ts'
import { modulesOf } from '../shop/settings/settings.ts'
import type { ModuleName } from '../shop/settings/definitions.ts'
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
    handler: ({ shop }) => ({
      data: {
        status: 'ok',
        version: fingerprint.version,
        env: shop.config.env,
        wpVersion: 'n/a',
        phpVersion: 'n/a',
        dependencies: dependencies(shop),
        buildId: fingerprint.buildId,
        buildFlavor: fingerprint.buildFlavor,
        nonceBootstrapStrategy: fingerprint.nonceBootstrapStrategy
      }
    })
  })
]

/** Reading the modules asks the database, so it tells whether that answers too. */
function dependencies({ db }: ShopContext): Record<'commerce' | 'membershipsA' | 'affiliates', 'active' | 'missing'> {
  try {
    const isOn = modulesOf(db)
    const state = (name: ModuleName): 'active' | 'missing' => (isOn(name) ? 'active' : 'missing')
    return { commerce: state('commerce'), membershipsA: state('membershipsA'), affiliates: state('affiliates') }
  } catch (cause) {
    throw new AppError('DEPENDENCY_UNAVAILABLE', 'The database does not answer.', {}, { cause })
  }
}
