import { z } from 'zod'
import { byName, healthModules } from '../../shop/settings/modules.ts'

const dependency = z.enum(['active', 'missing'])
const notApplicable = z.string().meta({ example: 'n/a' })

export const healthData = z
  .object({
    status: z.string().meta({ example: 'ok' }),
    version: z.string().meta({ example: '1.4.0' }),
    env: z.enum(['development', 'test', 'production']).meta({ example: 'production' }),
    wpVersion: notApplicable,
    phpVersion: notApplicable,
    dependencies: z.object(byName(healthModules, () => dependency)),
    buildId: z.string().meta({ example: '4f1c2d9a0b7e' }),
    buildFlavor: z.enum(['source', 'dist']).meta({ example: 'dist' }),
    nonceBootstrapStrategy: z.string().meta({ example: 'stateless-hmac' })
  })
  .meta({ id: 'Health' })

export const webhookData = z.object({ received: z.boolean().meta({ const: true }) })
