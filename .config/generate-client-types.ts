/**
 * Writes src/client/api-types.ts from the API description, so that the client's types follow the service's schemas.
 * Usage: npm run client:generate
 */
import { writeFileSync } from 'node:fs'
import { describeApi } from '../src/api/description/document.ts'
import { clientTypes } from '../src/api/description/client-types.ts'

const document = describeApi({ publicUrl: 'https://shop.test', apiPrefix: '/api/v1', cookieName: 'shopstead_session' })
writeFileSync('src/client/api-types.ts', clientTypes(document))
